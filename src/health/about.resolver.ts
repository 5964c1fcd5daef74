import { Query, Resolver } from '@nestjs/graphql';
import { Config } from '../platform/config/config.ts';
import { AboutView, toAboutView } from './about.view.ts';

@Resolver()
export class AboutResolver {
  constructor(private readonly config: Config) {}

  @Query(() => AboutView, { description: 'What this service is, and the rules that it runs by.' })
  about(): AboutView {
    return toAboutView(this.config);
  }
}
