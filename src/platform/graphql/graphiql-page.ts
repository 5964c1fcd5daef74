/** URLs are relative, so that the page also works behind a proxy that adds a path prefix. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Darkroom GraphiQL</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="graphiql/graphiql.css">
  </head>
  <body class="no-focus-outline">
    <div id="root"></div>
    <script src="graphiql/graphiql.js"></script>
    <script src="graphiql/start.js"></script>
  </body>
</html>
`;

/**
 * Runs in the browser and connects GraphiQL to this service. A subscription sends the headers of the Headers tab in
 * `connection_init`, because a browser's WebSocket cannot send headers.
 */
export const START = `'use strict';
const endpoint = new URL('graphql', document.baseURI);
const socketEndpoint = new URL(endpoint);
socketEndpoint.protocol = endpoint.protocol.replace('http', 'ws');

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => new URL('graphiql/' + label + '.js', document.baseURI).href,
};

async function execute(payload, headers) {
  const reply = await fetch(endpoint, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });
  return reply.json();
}

/** Runs one operation by the graphql-transport-ws protocol, on a separate socket that closes when GraphiQL stops. */
function subscribe(payload, headers) {
  return {
    subscribe({ next, complete }) {
      const socket = new WebSocket(socketEndpoint, 'graphql-transport-ws');
      const send = (message) => socket.send(JSON.stringify(message));
      const end = () => { socket.onclose = null; socket.close(1000); };
      socket.onopen = () => send({ type: 'connection_init', payload: headers });
      socket.onclose = ({ code, reason }) => {
        next({ errors: [{ message: 'The socket was closed: ' + code + ' ' + reason }] });
        complete();
      };
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'connection_ack') send({ id: '1', type: 'subscribe', payload });
        else if (message.type === 'ping') send({ type: 'pong' });
        else if (message.type === 'next') next(message.payload);
        else if (message.type === 'error' || message.type === 'complete') {
          if (message.type === 'error') next({ errors: message.payload });
          end();
          complete();
        }
      };
      return { unsubscribe: end };
    },
  };
}

/** Whether the named operation, or the only one, is a subscription. Removes comments and strings before it searches. */
function isSubscription({ query, operationName }) {
  const code = query.replace(/"""[\\s\\S]*?"""|"(?:\\\\.|[^"\\\\\\n])*"|#[^\\n]*/g, ' ');
  const name = operationName ? '\\\\s+' + operationName + '\\\\b' : '';
  return new RegExp('(?:^|[}\\\\s])subscription' + (name || '\\\\b')).test(code);
}

YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  title: 'Darkroom GraphiQL',
  fetcher: (payload, { headers = {} } = {}) => isSubscription(payload) ? subscribe(payload, headers) : execute(payload, headers),
  defaultHeaders: JSON.stringify({ authorization: 'Bearer dr_' }, null, 2),
  shouldPersistHeaders: false,
  defaultQuery: \`# Put your API key into the Headers tab below. Queries and subscriptions both use it.

query Models {
  models {
    id
    kind
    description
  }
}

subscription Everything {
  tasksUpdated {
    taskId
    status
    progress
  }
}
\`,
});
`;
