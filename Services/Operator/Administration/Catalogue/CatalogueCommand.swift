package import ArgumentParser

/// `boxoffice catalogue`: what is done with a catalogue as a whole.
package struct CatalogueCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "catalogue",
        abstract: "Print a catalogue as Config serves it, make one of a vendor's configuration, or bring one to the cluster.",
        subcommands: [
            CataloguePrintCommand.self, CatalogueApplyCommand.self, CatalogueFromAdobeCommand.self, CatalogueImportCommand.self,
            CataloguePromoteCommand.self, CatalogueKeysCommand.self,
        ],
        defaultSubcommand: CataloguePrintCommand.self)

    package init() {}
}
