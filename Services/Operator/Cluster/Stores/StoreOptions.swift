internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import ServiceKit

/// Which stores a command is about.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder with SERVICE.json or SERVICE/config.json of each service. Default: the settings of the cluster in $BOXOFFICE_HOME.",
            valueName: "folder"))
    var settings: String?

    @Option(help: ArgumentHelp("Folder with the services' programs. Default: where this program is.", valueName: "folder"))
    var programs: String?

    @Option(help: ArgumentHelp("Only this service; may be repeated.", valueName: "name"), completion: .rpcServices)
    var service: [String] = []

    /// Services that keep a store.
    private static let keepers: [ClusterService] = [.config, .authentication, .authorization, .autosignin]

    func validate() throws {
        for name in service where !Self.keepers.contains(where: { $0.rawValue == name }) {
            throw ValidationError("--service is \(name); stores are kept by \(Self.keepers.map(\.rawValue).joined(separator: ", "))")
        }
    }

    /// The stores, as the services' programs describe them.
    /// - Throws: `CommandFailure` when there are none, or a program cannot say.
    func descriptions(_ home: ClusterHome) throws -> [StoreDescription] {
        let folder = settings.map { URL(fileURLWithPath: $0) } ?? home.settings
        let replaced = settings == nil ? (try ClusterFile.read(home))?.replacements.map(\.service) ?? [] : []
        var found: [StoreDescription] = []
        for keeper in Self.keepers where (service.isEmpty && !replaced.contains(keeper)) || service.contains(keeper.rawValue) {
            let places = ["\(keeper.rawValue).json", "\(keeper.rawValue)/config.json"].map { folder.appendingPathComponent($0).path }
            guard let file = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
                if service.isEmpty { continue }
                throw CommandFailure("there are no settings of \(keeper.rawValue) in \(folder.path)", advice: "name their folder with --settings")
            }
            found.append(try describe(keeper, file))
        }
        guard !found.isEmpty else {
            throw CommandFailure("there are no settings in \(folder.path)", advice: "name their folder with --settings, or set BOXOFFICE_HOME")
        }
        return found
    }

    private func describe(_ service: ClusterService, _ file: String) throws -> StoreDescription {
        let folder = programs.map { URL(fileURLWithPath: $0) } ?? Checkout.binaries
        let program = try ProgramFile(service, in: folder)
        let said = try Subprocess.run(program.path, ["--config", file, "--describe-store"], environment: service.environment)
        guard said.status == 0, let description = try? JSONDecoder().decode(StoreDescription.self, from: said.output) else {
            throw CommandFailure("\(service.rawValue) does not say what its store is", advice: said.complaint)
        }
        return description
    }
}
