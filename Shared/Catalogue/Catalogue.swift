enum CataloguePlaceholder {}
