import { ApiProperty } from '@nestjs/swagger';
import { ApiField } from '../platform/schema/api-field.ts';
import { TYPE_ID_SUFFIX } from '../platform/schema/type-id.ts';
import { MAX_UNIX_S } from '../platform/schema/time.ts';
import { BUCKET_WIDTHS, type BucketWidth } from './buckets/bucket-width.ts';

export const MAX_BUCKETS = 400;
export const DEFAULT_BUCKETS = 31;
const MAX_ZONE_LENGTH = 64;

const TIME = { fromQuery: true, min: 0, max: MAX_UNIX_S };
const PAGE = /^page_[0-9]{1,12}$/;
const ALL_OR_KEY = new RegExp(`^(?:all|key_${TYPE_ID_SUFFIX})$`);

/** Query string of `GET /v1/usage`. */
export class UsageQuery {
  /** The parameters that may be given several times; the pipe joins their values with commas. */
  static readonly repeatable = ['group_by'];

  @ApiField.long('from this time on, unix seconds', TIME)
  start_time: number;

  @ApiField.long('until this time, exclusive, unix seconds; now when left out', { ...TIME, optional: true })
  end_time?: number;

  // Not `ApiField.oneOf`: the name of a GraphQL enum value cannot begin with a digit.
  @ApiField.string('how long a bucket is: 1h, 1d, 1M or all', {
    optional: true,
    default: '1d',
    pattern: { regex: /^(?:1h|1d|1M|all)$/, message: `bucket_width must be one of: ${BUCKET_WIDTHS.join(', ')}` },
  })
  @ApiProperty({ enum: BUCKET_WIDTHS, default: '1d', required: false })
  bucket_width?: BucketWidth;

  @ApiField.string('IANA name of the time zone in which hours, days and months begin', {
    optional: true,
    default: 'UTC',
    example: 'Europe/Berlin',
    max: MAX_ZONE_LENGTH,
  })
  timezone?: string;

  @ApiField.string(
    'any of model, kind, provider, resolution, source, batch_id, error_code, api_key_id and one metadata.<key>; separated by commas or repeated. A name with a comma is in double quotes',
    { optional: true, example: 'model,provider' },
  )
  group_by?: string;

  @ApiField.string('another API key, or `all`; needs the scope keys:manage. Your own when left out', {
    optional: true,
    pattern: { regex: ALL_OR_KEY, message: 'api_key_id must be the id of an API key, or all' },
  })
  api_key_id?: string;

  @ApiField.integer('buckets per page', {
    optional: true,
    min: 1,
    max: MAX_BUCKETS,
    default: DEFAULT_BUCKETS,
    fromQuery: true,
  })
  limit?: number;

  @ApiField.string('`next_page` of the page before', {
    optional: true,
    pattern: { regex: PAGE, message: 'page must be the next_page of a page' },
  })
  page?: string;
}
