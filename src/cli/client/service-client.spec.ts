import { ServiceClient } from './service-client.ts';

describe('an upload', () => {
  it('names a file that cannot be read', async () => {
    const upload = new ServiceClient('http://127.0.0.1:1', 'dr_test').upload('/nowhere/bicycle.png');
    await expect(upload).rejects.toThrow('/nowhere/bicycle.png cannot be read');
  });
});
