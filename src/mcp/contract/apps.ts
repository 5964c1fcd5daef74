/**
 * The page that shows a task in clients with MCP Apps. Tools with `hasViewer` name the page to every client, because
 * other clients ignore the name. So the server need not store what a client said in `initialize`.
 */
export const VIEWER_URI = 'ui://darkroom/viewer';
export const VIEWER_TYPE = 'text/html;profile=mcp-app';
