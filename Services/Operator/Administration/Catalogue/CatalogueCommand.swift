package import ArgumentParser
internal import CatalogueFiles
internal import Clocks
internal import ClusterCommands
internal import CommandKit
internal import ContractReflection
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Foundation
internal import ServiceKit

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

/// `boxoffice catalogue keys`: the keys of software statements that services of the local cluster accept.
struct CatalogueKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List the keys of software statements that the running cluster accepts, or take one out.",
        discussion: """
            Every copy of config adds the keys that its files hold; none goes by itself. A key that is taken out is refused from then on with all statements \
            that it signed, and cannot come back.
            """
    )

    @Option(name: .customLong("retire"), help: ArgumentHelp("Take this key out for good.", valueName: "id"))
    var retired: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let console = Console()
        let keys = try await CatalogueImporter(cluster).statementKeys(retiring: retired)
        guard !json else { return try JsonOutput.show(["keys": keys.map(\.members)]) }
        for key in keys { console.line(key.line) }
    }
}

extension StatementKey {
    fileprivate var line: String {
        let since = publishedSinceMilliseconds == 0 ? "from the beginning" : "since \(Self.moment(publishedSinceMilliseconds))"
        return "\(id)  \(since)" + (retiredAtMilliseconds == 0 ? "" : ", taken out \(Self.moment(retiredAtMilliseconds))")
    }

    private static func moment(_ milliseconds: UInt64) -> String { Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601) }

    /// For programs; a key from the beginning has no `publishedSince`.
    fileprivate var members: [String: Any] {
        var members: [String: Any] = ["id": id]
        if publishedSinceMilliseconds != 0 { members["publishedSince"] = Self.moment(publishedSinceMilliseconds) }
        if retiredAtMilliseconds != 0 { members["retiredAt"] = Self.moment(retiredAtMilliseconds) }
        return members
    }
}

/// `boxoffice catalogue import`: makes a file the newest version of the local cluster's catalogue.
struct CatalogueImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a catalogue file the newest version of the running cluster's catalogue.",
        discussion: """
            A file that would undo what administrators have pushed since the last import is refused, with what it would change; \
            --force imports it. The versions that it replaces stay in the history and can be restored. The cluster's own file stays as it is.
            """
    )

    @Argument(
        help: "A catalogue file (Services/Config/README.md describes it). Default: the cluster's own, which is refused when it changed beside pushes."
    )
    var file: String?

    @Flag(help: "Replace what administrators pushed.")
    var force = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let console = Console(isQuiet: json)
        let importer = try CatalogueImporter(cluster)
        let answer = try await importer.bring(try file.map { try OwnCatalogue(file: $0, home: home) }, isForced: force)
        for line in try answer.told(of: file ?? home.catalogue.path) { console.line(line) }
        if json { try JsonOutput.show(answer.members) }
    }
}

extension CatalogueImport {
    /// For programs.
    fileprivate var members: [String: Any] {
        var members: [String: Any] = ["isNew": isNew, "changeCount": changeCount, "changes": changes.map { ["line": $0.text] }]
        switch outcome {
        case .version(let version): members["version"] = version.version
        case .pending(let push): members["push"] = push.id
        default: break
        }
        members["replaced"] = pushedVersions
        return members
    }
}

/// `boxoffice catalogue print`: a catalogue as what goes over the wire, for a Config service of somebody's own.
struct CataloguePrintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print a catalogue as the message that Config serves, in protobuf's JSON form.",
        discussion: """
            Without a file: the demo catalogue, with the keys of $BOXOFFICE_HOME and the sandbox at this cluster's ports; what is missing in the \
            local PKI is made. The version and the keys of software statements are left out: the serving Config sets them.
            """
    )

    @Argument(help: "A catalogue file (Services/Config/README.md describes it).")
    var file: String?

    @Option(help: "Write to this file, replacing it, instead of printing.")
    var output: String?

    /// A word of one command that no file has may be meant for another: `catalogue keyz`.
    func validate() throws {
        guard let file, !file.contains("/"), !FileManager.default.fileExists(atPath: file) else { return }
        throw ValidationError("there is no file '\(file)', and no command of that name")
    }

    func run() async throws {
        let schema = try ContractSchema(fileDescriptorSet: ContractDescriptors.fileDescriptorSet)
        let content = Array((try schema.json(try configuration().serialized(), of: Configuration.messageName) + "\n").utf8)
        guard let output else { return StandardStream.output.writeOrEnd(Data(content)) }
        do {
            try Data(content).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(output)", advice: PlainReason.of(error))
        }
    }

    private func configuration() throws -> Configuration {
        let path = try file ?? demo().path
        do {
            return Self.withSoftwareIDs(try CatalogueFile(path: path).read(now: SystemClock().now()).configuration)
        } catch {
            throw CommandFailure(error.lines.joined(separator: "\n"))
        }
    }

    private func demo() throws -> URL {
        let environment = ProcessInfo.processInfo.environment
        let home = ClusterHome(environment: environment, checkout: Checkout.current)
        try home.prepare()
        let pki = LocalPki(folder: home.pki)
        try pki.ensure()
        if !FileManager.default.fileExists(atPath: home.catalogue.path) {
            let writer = try SettingsWriter(home: home, ports: PortPlan(environment: environment), checkout: Checkout.current, pki: pki)
            try WrittenFiles.replace(home.catalogue, with: try writer.catalogue())
        }
        return home.catalogue
    }

    /// One software id per application, the same each time: a `software_id` is no secret, and another one would revoke the statements so far.
    static func withSoftwareIDs(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        for index in configuration.applications.indices where configuration.applications[index].softwareIDs.isEmpty {
            let digest = Hex.encode(SHA256.hash("software id of \(configuration.applications[index].id)"))
            configuration.applications[index].softwareIDs = [String(digest.prefix(32))]
        }
        return configuration
    }
}
