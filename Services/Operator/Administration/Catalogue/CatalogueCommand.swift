public import ArgumentParser

/// `boxoffice catalogue`: what is done with a catalogue as a whole.
public struct CatalogueCommand: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "catalogue",
        abstract: "Print a catalogue as Config serves it, make one of a vendor's configuration, or bring one to the cluster.",
        subcommands: [
            CataloguePrintCommand.self, CatalogueApplyCommand.self, CatalogueFromAdobeCommand.self, CatalogueImportCommand.self,
            CataloguePromoteCommand.self, CatalogueKeysCommand.self,
        ],
        defaultSubcommand: CataloguePrintCommand.self)

    public init() {}
}
