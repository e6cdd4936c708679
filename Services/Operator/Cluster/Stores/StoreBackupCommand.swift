internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import ServiceKit

/// `boxoffice store backup`.
struct StoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the stores into a folder, beside services that run.",
        discussion: """
            Each copy is one moment's, with everything that was acknowledged before it, and has been read. The folder is as confidential as the stores. Keys \
            are not in it, and are named: keep them apart from it.
            """)

    @Option(help: ArgumentHelp("A folder that is not there yet.", valueName: "folder"))
    var to: String

    @OptionGroup var stores: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let console = Console(isQuiet: json)
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let descriptions = try stores.descriptions(home)
        let folder = URL(fileURLWithPath: to)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw CommandFailure("\(folder.path) is there already", advice: "name a folder that is not there yet")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let manifest: BackupManifest
        do {
            var saved: [BackupManifest.Store] = []
            for description in descriptions {
                let start = ContinuousClock.now
                let store = try StoreSaving(description: description, folder: folder).run()
                let rows = store.tables.values.reduce(0, +)
                console.step("\(store.service): \(rows) rows in \(store.file)", took: ContinuousClock.now - start)
                saved.append(store)
            }
            manifest = BackupManifest(madeAt: Date.now.formatted(.iso8601), software: SoftwareVersion.description, stores: saved)
            try manifest.write(to: folder)
        } catch {
            // Half a backup would pass for one.
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
        console.line("The backup is in \(folder.path).")
        let keys = descriptions.flatMap { description in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: description.data)) ?? []
            return names.filter { $0.hasSuffix(".key") }.sorted().map { "\(description.data)/\($0)" }
        }
        if !keys.isEmpty { console.line("Keys are not in it; keep these too, apart from it: \(keys.joined(separator: " "))") }
        guard json else { return }
        let saved = manifest.stores.map { ["service": $0.service, "file": $0.file, "rows": $0.tables.values.reduce(0, +)] as [String: Any] }
        try JsonOutput.show(["folder": folder.path, "madeAt": manifest.madeAt, "stores": saved, "keysToKeep": keys])
    }
}
