public import ArgumentParser
internal import ServiceKit

/// `boxoffice`, the command line of the cluster.
public struct BoxofficeCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "boxoffice",
        abstract: "Run, try and check a Boxoffice cluster.",
        version: SoftwareVersion.description,
        subcommands: [
            UpCommand.self, DownCommand.self, StatusCommand.self, LogsCommand.self, DoctorCommand.self, RunCommand.self, PkiCommand.self,
            SettingsCommand.self,
            CatalogueCommand.self, DraftCommand.self, MvpdCommand.self, UpstreamCommand.self,
            SecretCommand.self, SupportCommand.self, PersonCommand.self, StoreCommand.self,
            ApplicationCommand.self,
            DeviceCommand.self,
            VerifyCommand.self, ExplainCommand.self, CallCommand.self, ConformanceCommand.self, LoadCommand.self,
            SoakCommand.self,
            VersionCommand.self,
        ]
    )

    public init() {}
}

/// The same for all programs of one build.
typealias SoftwareVersion = ServiceKit.SoftwareVersion
