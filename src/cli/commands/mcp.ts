import { Command } from 'commander';
import { connect } from '../client/connect.ts';
import { defaultFolders, ImageFolders } from '../mcp/image-folders.ts';
import { keyOption, requireKey, urlOption } from '../client/service-options.ts';

interface Options {
  url: string;
  key?: string;
  out?: string;
  images?: string[];
}

const collect = (folder: string, folders: string[] = []): string[] => [...folders, folder];

/** `darkroom mcp`: for MCP clients that start a program. Nothing but the protocol goes to stdout. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Serve the tools of a service over stdio to an MCP client, such as Claude Desktop or an editor.')
    .option('--out <folder>', 'save every output there and link it as a file')
    .option(
      '--images <folder>',
      'an agent may name images below this folder, and below that of --out; may be given several times. Default: the working folder, unless it is / or the home folder',
      collect,
    )
    .addOption(urlOption())
    .addOption(keyOption())
    .addHelpText('after', '\nExample: npx darkroom mcp --out pictures')
    .action(async ({ url, key, out, images = defaultFolders(process.cwd()) }: Options) => {
      const [{ Bridge }, { LocalImages }, { RpcClient }, { SavedOutputs }] = await Promise.all([
        import('../mcp/bridge.ts'),
        import('../mcp/local-images.ts'),
        import('../mcp/rpc-client.ts'),
        import('../mcp/saved-outputs.ts'),
      ]);
      const secret = requireKey(key);
      const folders = out === undefined ? images : [...images, out];
      const warn = (line: string): void => console.error(line);
      const parts = {
        client: new RpcClient(url, secret),
        images: new LocalImages(connect({ url, key: secret }).files, new ImageFolders(folders)),
        outputs: out === undefined ? null : new SavedOutputs(out, warn),
      };
      await new Bridge(parts, process.stdout).run(process.stdin);
      process.exit(); // a connection that is kept alive would keep the process running
    });
}
