// node origin.mjs PACKAGE PORT: the survey's origin server, on loopback only.
import http from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, port] = process.argv.slice(2)
Object.assign(process.env, { npm_config_protocol: 'http', npm_config_port: port, npm_config_pidfile: '/dev/null' })
const listen = http.Server.prototype.listen
http.Server.prototype.listen = function (number) { return listen.call(this, number, '127.0.0.1') }
await import(pathToFileURL(path.join(folder, 'server/server.mjs')))
