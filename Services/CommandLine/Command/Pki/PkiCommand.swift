public import ArgumentParser
internal import Foundation

/// `boxoffice pki`: makes the keys and certificates of a local cluster.
public struct PkiCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "pki",
        abstract: "Make the keys and certificates of a local cluster.",
        discussion: """
            What is missing or expires within 30 days is made, what is there is kept. A running service takes a renewed certificate without a restart.
            """
    )

    @Option(help: "The folder they go to; default: pki in $BOXOFFICE_HOME.")
    var folder: String?

    public init() {}

    public func run() async throws {
        let console = Console()
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let pki = LocalPki(folder: folder.map { URL(fileURLWithPath: $0) } ?? home.pki)
        if folder == nil {
            try home.prepare()
        } else {
            try FileManager.default.createDirectory(at: pki.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let made = try pki.ensure()
        console.line(
            made.isEmpty ? "\(pki.folder.path): all keys and certificates are there" : "\(pki.folder.path): made \(made.joined(separator: ", "))")
    }
}
