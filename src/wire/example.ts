/** The model that examples name: the built-in one, so that they work as pasted on any gateway. */
export const exampleModel = 'demo/tollgate'
export const exampleProvider = exampleModel.slice(0, exampleModel.indexOf('/'))
