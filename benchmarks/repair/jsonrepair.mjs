// Lines of JSON strings to lines: what jsonrepair makes of each, and how many microseconds it took; null where it raises.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const require = createRequire(pathToFileURL(process.argv[2] + '/'))
const { jsonrepair } = require('jsonrepair')
for await (const line of createInterface({ input: process.stdin })) {
  const start = process.hrtime.bigint()
  let text = null
  try {
    text = jsonrepair(JSON.parse(line))
  } catch {}
  console.log(JSON.stringify([text, Number(process.hrtime.bigint() - start) / 1000]))
}
