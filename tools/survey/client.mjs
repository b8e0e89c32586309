// node client.mjs PACKAGE ORIGIN PROXY: runs the survey by absolute-form requests to the proxy. Prints JSON: for each
// behaviour its id, name, group, kind, the behaviours that it needs, and true or the reason why it was not found.
import http from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, origin, proxy] = process.argv.slice(2)
const load = file => import(pathToFileURL(path.resolve(folder, file)))

class ThroughProxy extends http.Agent {
  addRequest(request, options) {
    request.path = origin + request.path
    const { hostname, port } = new URL(proxy)
    super.addRequest(request, { ...options, host: hostname, hostname, port })
  }
}

const { default: groups } = await load('tests/index.mjs')
const { runTests, getResults } = await load('client/runner.mjs')
const { default: nodeFetch } = await load('../node-fetch/lib/index.mjs')
const agent = new ThroughProxy()
await runTests(groups, (url, init) => nodeFetch(url, { ...init, agent }), false, origin)

const results = getResults()
const kinds = { optimal: 'optional', check: 'check' }
const answers = groups.flatMap(group => group.tests
  .filter(test => test.id in results)
  .map(({ id, name, kind, depends_on: needs = [] }) =>
    ({ id, name, group: group.name, kind: kinds[kind] ?? 'required', needs, result: results[id] })))
console.log(JSON.stringify(answers))
