"""Grammars of URIs, templates and addresses, as the RFCs have them, for the matcher of ``abnf.py``.

Classes are in ``<[…]>``.  A name in capitals is filled in for URIs and IRIs.
"""

from __future__ import annotations

from tests.support.schemas.abnf import Grammar

# RFC 3986, appendix A; with the classes of RFC 3987, section 2.2.
_URI = r"""
absolute = scheme ':' hier [ '?' query ] [ '#' fragment ]
reference = absolute / relative [ '?' query ] [ '#' fragment ]
hier = '//' authority abempty / rooted / rootless / nothing
relative = '//' authority abempty / rooted / noscheme / nothing
nothing = ''
scheme = alpha *( alpha / digit / <[+.\-]> )
authority = [ *( plain / ':' ) '@' ] host [ ':' *digit ]
host = '[' ( ipv6 / future ) ']' / ipv4 / *plain
future = 'v' 1*hex '.' 1*( alpha / digit / <[._~\-]> / sub / ':' )
ipv6 = six last / '::' five last / [ h16 ] '::' four last / [ upto1 ] '::' three last / more6
more6 = [ upto2 ] '::' two last / [ upto3 ] '::' one last / [ upto4 ] '::' last / more7
more7 = [ upto5 ] '::' h16 / [ upto6 ] '::'
upto1 = *1( h16 ':' ) h16
upto2 = *2( h16 ':' ) h16
upto3 = *3( h16 ':' ) h16
upto4 = *4( h16 ':' ) h16
upto5 = *5( h16 ':' ) h16
upto6 = *6( h16 ':' ) h16
six = 6( h16 ':' )
five = 5( h16 ':' )
four = 4( h16 ':' )
three = 3( h16 ':' )
two = 2( h16 ':' )
one = h16 ':'
last = h16 ':' h16 / ipv4
h16 = 1*4hex
ipv4 = octet '.' octet '.' octet '.' octet
octet = digit / <[1-9]> digit / '1' 2digit / '2' <[0-4]> digit / '25' <[0-5]>
abempty = *( '/' *pchar )
rooted = '/' [ 1*pchar *( '/' *pchar ) ]
rootless = 1*pchar *( '/' *pchar )
noscheme = 1*( plain / '@' ) *( '/' *pchar )
query = *( pchar / <[/?]> / <PRIVATE> )
fragment = *( pchar / <[/?]> )
pchar = plain / <[:@]>
plain = unreserved / escaped / sub
unreserved = alpha / digit / <[._~\-]> / <MORE>
escaped = '%' hex hex
sub = <[!$&'()*+,;=]>
alpha = <[A-Za-z]>
digit = <[0-9]>
hex = <[0-9A-Fa-f]>
"""

_UCS = r"\xA0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF" + "".join(
    f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14)
)
_UCS += f"{chr(0xE1000)}-{chr(0xEFFFD)}"
_PRIVATE = f"\ue000-\uf8ff{chr(0xF0000)}-{chr(0xFFFFD)}{chr(0x100000)}-{chr(0x10FFFD)}"

URI = Grammar(_URI.replace("MORE", "[_]").replace("PRIVATE", "[/]"))
IRI = Grammar(_URI.replace("MORE", f"[{_UCS}]").replace("PRIVATE", f"[{_PRIVATE}]"))

# RFC 6570, sections 2.1 to 2.4, with erratum 6937.
TEMPLATE = Grammar(
    r"""
template = *( literal / '{' [ operator ] variable *( ',' variable ) '}' )
literal = <[!#$&'(-;=?-\[\]_a-z~]> / escaped / <[UCSPRIVATE]>
operator = <[+#./;?&=,!@|]>
variable = name [ ':' <[1-9]> *3digit / '*' ]
name = part *( [ '.' ] part )
part = alpha / digit / '_' / escaped
escaped = '%' hex hex
alpha = <[A-Za-z]>
digit = <[0-9]>
hex = <[0-9A-Fa-f]>
""".replace("UCS", _UCS).replace("PRIVATE", _PRIVATE)
)

# RFC 5321, sections 4.1.2 and 4.1.3, without literals of other families.
MAILBOX = Grammar(
    r"""
mailbox = local '@' ( domain / '[' ( dotted / 'IPv6:' ipv6 ) ']' )
local = 1*atext *( '.' 1*atext ) / <["]> *( qtext / <[\\]> <[ -~]> ) <["]>
atext = alnum / <[!#$%&'*+/=?^_`{|}~\-]>
qtext = <[ !#-\[\]-~]>
domain = sub *( '.' sub )
sub = alnum [ *( alnum / '-' ) alnum ]
dotted = snum '.' snum '.' snum '.' snum
snum = <[01]> 2digit / '2' <[0-4]> digit / '25' <[0-5]> / 1*2digit
ipv6 = h16 7( ':' h16 ) / h16 5( ':' h16 ) ':' dotted / around
around = c0 / c1 / c2 / c3 / c4 / c5 / c6 / d0 / d1 / d2 / d3 / d4
c0 = '::' [ h16 *5( ':' h16 ) ]
c1 = h16 '::' [ h16 *4( ':' h16 ) ]
c2 = h16 1( ':' h16 ) '::' [ h16 *3( ':' h16 ) ]
c3 = h16 2( ':' h16 ) '::' [ h16 *2( ':' h16 ) ]
c4 = h16 3( ':' h16 ) '::' [ h16 *1( ':' h16 ) ]
c5 = h16 4( ':' h16 ) '::' [ h16 ]
c6 = h16 5( ':' h16 ) '::'
d0 = '::' [ h16 *3( ':' h16 ) ':' ] dotted
d1 = h16 '::' [ h16 *2( ':' h16 ) ':' ] dotted
d2 = h16 1( ':' h16 ) '::' [ h16 *1( ':' h16 ) ':' ] dotted
d3 = h16 2( ':' h16 ) '::' [ h16 ':' ] dotted
d4 = h16 3( ':' h16 ) '::' dotted
h16 = 1*4hex
alnum = <[A-Za-z0-9]>
digit = <[0-9]>
hex = <[0-9A-Fa-f]>
"""
)
