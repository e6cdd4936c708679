internal import ArgumentParser
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
