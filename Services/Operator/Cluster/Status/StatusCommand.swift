package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice status`: how the programs of the local cluster are.
package struct StatusCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List the programs of the running cluster: ready or not, since when, memory, version, last error.",
        discussion: "Ends with 0 when every program is ready, with 1 when one is not. 'boxoffice doctor' says what to do.")

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let status = try await StatusReader.read(home, try ClusterFile.required(home))
        let console = Console()
        if json {
            console.line(try JsonOutput.text(status))
        } else {
            for line in status.lines(console, width: TerminalSize.columns ?? .max) { console.line(line) }
            if let address = status.console { console.line("\nConsole  \(address)") }
        }
        guard status.isReady else { throw CommandExit.failed.exitCode }
    }
}
