import { Controller, Post } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError } from '../errors/api-error.ts';
import { AcceptsBody } from '../platform/http/multipart/accepts-body.ts';
import { IgnoresUnknownQuery } from '../platform/http/query-parameters.guard.ts';

/** Calls that OpenAI's clients have and that nothing here answers: the refusal says what does. */
@ApiExcludeController()
@IgnoresUnknownQuery()
@Controller('v1')
export class AbsentRoutesController {
  @Post('images/variations')
  @AcceptsBody({ multipart: true })
  vary(): never {
    throw absent('There are no image variations here: edit the picture with POST /v1/images/edits.');
  }

  @Post(['chat/completions', 'responses'])
  chat(): never {
    throw absent('There are no chat models here: create pictures with POST /v1/images/generations.');
  }
}

const absent = (message: string): ApiError => new ApiError('route_not_found', { message });
