import { Resolver } from 'node:dns/promises';

/** Loaded with `--import`: the program asks the DNS server of TEST_DNS_SERVER instead of the system's. */
const led = new WeakSet();
for (const method of ['resolve4', 'resolve6']) {
  const resolve = Resolver.prototype[method];
  Resolver.prototype[method] = function (...given) {
    if (!led.has(this)) this.setServers([process.env.TEST_DNS_SERVER]); // not while it waits for an answer
    led.add(this);
    return resolve.apply(this, given);
  };
}
