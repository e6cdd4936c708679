internal import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice store restore`.
struct StoreRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put stores of a backup in their places.",
        discussion: """
            The services must not run. All of the backup is checked before anything is changed. Shared/Documents/Operations/Backup.md says what a restore of \
            each store undoes.
            """)

    @Option(help: ArgumentHelp("A folder that 'boxoffice store backup' has made.", valueName: "folder"))
    var from: String

    @Flag(help: "Replace stores that are there; what they hold is lost.")
    var force = false

    @OptionGroup var stores: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let console = Console(isQuiet: json)
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let folder = URL(fileURLWithPath: from)
        let manifest = try BackupManifest.read(folder)
        let descriptions = try stores.descriptions(home)
        let restorings = manifest.stores.compactMap { saved in
            descriptions.first { $0.service == saved.service }
                .map { StoreRestoring(description: $0, saved: saved, folder: folder, isForced: force) }
        }
        if let missing = stores.service.first(where: { name in !restorings.contains { $0.saved.service == name } }) {
            throw CommandFailure("the backup has no store of \(missing)", advice: "it has \(manifest.stores.map(\.service).joined(separator: ", "))")
        }
        for restoring in restorings { try restoring.check() }
        for restoring in restorings {
            let saved = restoring.saved
            try await console.step("\(saved.service): \(saved.tables.values.reduce(0, +)) rows of \(manifest.madeAt)") { try restoring.run() }
        }
        guard json else { return }
        let restored = restorings.map { ["service": $0.saved.service, "rows": $0.saved.tables.values.reduce(0, +)] as [String: Any] }
        try JsonOutput.show(["folder": folder.path, "madeAt": manifest.madeAt, "stores": restored])
    }
}
