import { Module } from '@nestjs/common';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { DispatchEvents } from './sql/dispatch-events.ts';
import { SendAgain } from './sql/send-again.ts';
import { SweepDispatches } from './sql/sweep-dispatches.ts';
import { TurnDeliveries } from './sql/turn-deliveries.ts';
import { Attempt } from './deliveries/attempt.ts';
import { DeliverySignal } from './deliveries/delivery-signal.ts';
import { DeliverWorker } from './deliveries/deliver.worker.ts';
import { DeliveriesService } from './deliveries/deliveries.service.ts';
import { DeliverySweep } from './deliveries/delivery-sweep.ts';
import { TaskEndRecorder } from './events/task-end-recorder.ts';
import { EventsController } from './events/events.controller.ts';
import { EndpointsController } from './endpoints/endpoints.controller.ts';
import { EventsResolver } from './events/events.resolver.ts';
import { DeliveriesController } from './deliveries/deliveries.controller.ts';
import { DeliveriesResolver } from './deliveries/deliveries.resolver.ts';
import { EndpointsResolver } from './endpoints/endpoints.resolver.ts';
import { EndpointsService } from './endpoints/endpoints.service.ts';

/** Who is told when tasks end. */
@Module({
  imports: [OutboundModule, TasksModule],
  controllers: [EndpointsController, DeliveriesController, EventsController],
  providers: [
    DispatchEvents,
    TurnDeliveries,
    SendAgain,
    SweepDispatches,
    Attempt,
    DeliverySignal,
    DeliverWorker,
    DeliveriesService,
    DeliverySweep,
    TaskEndRecorder,
    EndpointsResolver,
    DeliveriesResolver,
    EventsResolver,
    EndpointsService,
  ],
})
export class WebhooksModule {}
