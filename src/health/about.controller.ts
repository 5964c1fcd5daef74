import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Config } from '../platform/config/config.ts';
import { AboutView, toAboutView } from './about.view.ts';

@ApiTags('Health')
@Controller('v1/about')
export class AboutController {
  constructor(private readonly config: Config) {}

  /** Any API key may read this. The answer is of no use to somebody without a key. */
  @Get()
  @ApiOperation({ summary: 'Read what this service is', operationId: 'getAbout' })
  @ApiOkResponse({ type: AboutView })
  find(): AboutView {
    return toAboutView(this.config);
  }
}
