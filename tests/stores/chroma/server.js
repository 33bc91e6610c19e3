// Runs the Chroma server in this process: node server.js BINDINGS DATA PORT
// Prints "ready PORT" when it answers. A port of 0: one that is free.
'use strict';
const fs = require('fs');
const http = require('http');
const net = require('net');
const { Worker, isMainThread, workerData } = require('worker_threads');

const host = '127.0.0.1';

function isFree(port) {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

// Below the range that the kernel gives to outgoing connections.
async function freePort() {
  for (let tries = 0; tries < 1000; ++tries) {
    const port = 15000 + Math.floor(Math.random() * 17000);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}

// In a thread of its own, since the server keeps the main one for itself.
function announce(port) {
  const ask = () =>
    http
      .get({ host, port, path: '/api/v2/heartbeat', agent: false }, (answer) => {
        answer.resume();
        if (answer.statusCode === 200) fs.writeSync(1, `ready ${port}\n`);
        else setTimeout(ask, 20);
      })
      .on('error', () => setTimeout(ask, 20));
  ask();
}

async function run([bindings, data, wanted]) {
  const port = Number(wanted) || (await freePort());
  if (!(await isFree(port))) {
    console.error(`chroma_server: somebody listens on port ${port}`);
    process.exit(1);
  }
  new Worker(__filename, { workerData: port });
  require(bindings).cli(['chroma', 'run', '--path', data, '--host', host, '--port', String(port)]);
}

if (isMainThread) run(process.argv.slice(2));
else announce(workerData);
