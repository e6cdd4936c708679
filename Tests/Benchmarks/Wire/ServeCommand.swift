import ArgumentParser
import Foundation
import Logging
import NIOPosix
import Rpc
import Transport

/// The server that is measured: one event loop, Echo and GetConfiguration. Prints its port and serves until it is killed.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Serves Echo and GetConfiguration until it is killed.")

    @Option(help: "Folder with the identities that `compare` made.")
    var identities: String

    func run() async throws {
        let identity = try TlsIdentity(files: BenchmarkIdentities(folder: identities).files(BenchmarkIdentities.server))
        var services = RpcServices()
        try PreparedConfiguration().register(in: &services)
        let server = RpcServer(
            configuration: RpcServer.Configuration(
                address: RpcAddress(host: "127.0.0.1", port: 0), identity: identity,
                allow: AllowList([PreparedConfiguration.service: [BenchmarkIdentities.client]]), software: "wire-benchmark"),
            services: services, group: MultiThreadedEventLoopGroup(numberOfThreads: 1),
            logger: Logger(label: "wire-benchmark") { _ in SwiftLogNoOpLogHandler() })
        let port = try await server.start().port
        try FileHandle.standardOutput.write(contentsOf: Data("\(port)\n".utf8))
        server.health.setServing()
        try await Task.sleep(for: .seconds(86_400))
    }
}
