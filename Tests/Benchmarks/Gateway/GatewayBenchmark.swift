import ArgumentParser
import Foundation

/// Measures the HTTP path of a whole cluster against a bare server and bare signatures.
@main
struct GatewayBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-benchmark", abstract: "Measures a cluster through its gateway.",
        subcommands: [
            RunCommand.self, BridgeCommand.self, ExportCommand.self, FleetCommand.self, FormerAppsCommand.self, HangingProviderCommand.self,
            HelloCommand.self, OutboundCommand.self, RatesCommand.self, ScheduleCommand.self, SharesCommand.self,
        ],
        defaultSubcommand: RunCommand.self)

    /// Ends the program as each of its commands says. The code is 0 when every goal holds, 1 when one does not, 2 when there was nothing to measure.
    static func judge(_ measure: () async throws -> Bool) async throws {
        let met: Bool
        do {
            met = try await measure()
        } catch {
            FileHandle.standardError.write(Data("gateway-benchmark: \(error)\n".utf8))
            throw ExitCode(2)
        }
        if !met { throw ExitCode(1) }
    }
}
