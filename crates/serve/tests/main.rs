mod skip;
