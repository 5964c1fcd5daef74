import { Args, Int, ResolveField, Resolver } from '@nestjs/graphql';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { OperationsView } from '../views/operations.view.ts';
import { minutesOf, QueueHistoryQuery, QueueMinuteView } from './queue-history.view.ts';
import { QueueSamples } from './sql/queue-samples.ts';

@Resolver(() => OperationsView)
export class QueueHistoryResolver {
  constructor(private readonly samples: QueueSamples) {}

  @ResolveField(() => [QueueMinuteView], {
    description: 'Unfinished tasks of each of the last minutes, the oldest first.',
  })
  queueHistory(
    @Args('minutes', {
      type: () => Int,
      nullable: true,
      description: 'how many minutes back, with the present one: 1 to 1,440, 60 when left out',
    })
    minutes: number | null | undefined,
  ): Promise<QueueMinuteView[]> {
    return this.samples.last(minutesOf(checkArguments(QueueHistoryQuery, { minutes })));
  }
}
