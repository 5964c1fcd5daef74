import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Fails } from '../../platform/openapi/faults.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { RequireScope } from '../access/access.ts';
import { ErasureListView, ErasureView, ListErasuresQuery, toErasureView } from './erasure.view.ts';
import { Erasures } from './erasures.ts';

/** Shows erasures. `DELETE /v1/api_keys/{id}?erase=true` orders an erasure. */
@ApiTags('API keys')
@Controller('v1/erasures')
@RequireScope('keys:manage')
export class ErasuresController {
  constructor(private readonly erasures: Erasures) {}

  @Get()
  @ApiOperation({ summary: 'List the erasures of API keys, newest first', operationId: 'listErasures' })
  @ApiOkResponse({ type: ErasureListView })
  async list(@Query() { limit = 20, after }: ListErasuresQuery): Promise<ErasureListView> {
    const { erasures, hasMore } = await this.erasures.list({ limit, ...(after !== undefined && { after }) });
    return toList(erasures.map(toErasureView), hasMore, ({ id }) => id);
  }

  @Get(':id')
  @Fails('erasure_not_found')
  @ApiOperation({ summary: 'Read an erasure and its progress', operationId: 'getErasure' })
  @ApiOkResponse({ type: ErasureView })
  async find(@Param('id') id: string): Promise<ErasureView> {
    return toErasureView(await this.erasures.find(id));
  }
}
