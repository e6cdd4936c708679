public import ArgumentParser

/// `boxoffice`, the command line of the cluster.
public struct BoxofficeCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "boxoffice",
        abstract: "Run, try and check a Boxoffice cluster.",
        version: SoftwareVersion.current,
        subcommands: [
            UpCommand.self, DownCommand.self, RunCommand.self, PkiCommand.self, SettingsCommand.self, CatalogueCommand.self, DeviceCommand.self,
            VerifyCommand.self, ExplainSamlCommand.self, CallCommand.self, ConformanceCommand.self, LoadCommand.self,
        ]
    )

    public init() {}
}

/// The version that all programs of this checkout carry.
enum SoftwareVersion {
    static let current = "0.1.0"
}
