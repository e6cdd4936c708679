package import Foundation

/// The source tree that the program belongs to: where the services' settings, pages and the demo catalogue are.
package enum Checkout {
    /// `BOXOFFICE_CHECKOUT`, else the nearest folder with `Services/Config` above the program or above the current folder.
    package static let current: URL = {
        if let given = ProcessInfo.processInfo.environment["BOXOFFICE_CHECKOUT"], !given.isEmpty { return URL(fileURLWithPath: given) }
        let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        return [binaries, here].lazy.compactMap(above).first ?? here
    }()

    /// The folder of this program, where those of the services are too.
    package static let binaries: URL = {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: program).deletingLastPathComponent()
    }()

    /// A person calls this program in this way: by the script of the checkout, which finds the newest one.
    package static let commandLine: String = {
        let script = current.appendingPathComponent("Services/boxoffice").path
        guard FileManager.default.isExecutableFile(atPath: script) else { return CommandLine.arguments.first ?? "boxoffice" }
        return FileManager.default.currentDirectoryPath == current.standardizedFileURL.path ? "./Services/boxoffice" : script
    }()

    private static func above(_ start: URL) -> URL? {
        var folder = start.standardizedFileURL
        while folder.path != "/" {
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Services/Config").path) { return folder }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}
