import { Resolver } from 'node:dns/promises';

/** Loaded with `--import`: the program asks the DNS server in TEST_DNS_SERVER and not the system's. */
const led = new WeakSet();
for (const method of ['resolve4', 'resolve6']) {
  const resolve = Resolver.prototype[method];
  Resolver.prototype[method] = function (...given) {
    // Once for each resolver, because a resolver must not get another server while its query waits.
    if (!led.has(this)) this.setServers([process.env.TEST_DNS_SERVER]);
    led.add(this);
    return resolve.apply(this, given);
  };
}
