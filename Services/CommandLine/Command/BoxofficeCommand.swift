enum BoxofficeCommandPlaceholder {}
