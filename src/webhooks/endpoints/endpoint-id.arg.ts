import { Args } from '@nestjs/graphql';

export const EndpointId = (name = 'id'): ParameterDecorator =>
  Args(name, { type: () => String, description: 'identifier of the endpoint' });
