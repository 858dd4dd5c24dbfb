"""Scores of a Unigram model as whole numbers, where the host's sums of them do not round."""
import numpy as np
NO_PIECE = np.iinfo(np.int64).min


def whole_scores(scores):
    finite=~np.isnan(scores)
    v=np.where(finite,scores,0.0)
    k=np.round(v*2**22)
    exact=(k/2**22==v)
    out=np.full(len(scores), np.iinfo(np.int64).min, dtype=np.int64)
    ok=finite&exact
    out[ok]=k[ok].astype(np.int64)
    print('not exact', int((finite&~exact).sum()))
    return out
