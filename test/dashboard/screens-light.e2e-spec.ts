import { describeScreens } from './support/screens.ts';

describeScreens('light');
