import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { lifecycleHeaders } from './definition/model.ts';
import { ListModelsQuery, ModelListView, ModelView } from './model.view.ts';
import { ModelsService } from './models.service.ts';
import { Fails } from '../platform/openapi/faults.ts';

@ApiTags('Models')
@Controller('v1/models')
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get()
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'List the models', operationId: 'listModels' })
  @ApiOkResponse({ type: ModelListView })
  list(@CurrentCaller() caller: Caller, @Query() { kind }: ListModelsQuery): Promise<Buffer> {
    return this.models.listJson(caller, kind);
  }

  @Get(':id')
  @Fails('model_not_found')
  @ApiOperation({ summary: 'Read a model', operationId: 'getModel' })
  @ApiOkResponse({ type: ModelView })
  async find(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ModelView> {
    const model = await this.models.find(caller, id);
    void reply.headers(lifecycleHeaders(model));
    return model;
  }
}
