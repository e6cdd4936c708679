internal import AdministrationCommands
internal import ArgumentParser
internal import ClusterCommands
internal import ServiceKit
internal import Simulation
internal import WorkshopCommands

/// `boxoffice`, the command line of the cluster.
struct BoxofficeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "boxoffice",
        abstract: "Run, try and check a Boxoffice cluster.",
        version: SoftwareVersion.description,
        subcommands: [
            UpCommand.self, DownCommand.self, StatusCommand.self, LogsCommand.self, DoctorCommand.self, RunCommand.self, PkiCommand.self,
            SettingsCommand.self,
            CatalogueCommand.self, DraftCommand.self, MvpdCommand.self, UpstreamCommand.self,
            SecretCommand.self, SupportCommand.self, PersonCommand.self, StoreCommand.self,
            ApplicationCommand.self, WebSdkCommand.self,
            DeviceCommand.self,
            VerifyCommand.self, ExplainCommand.self, CallCommand.self, ConformanceCommand.self, LoadCommand.self,
            SoakCommand.self,
            VersionCommand.self,
        ]
    )
}
