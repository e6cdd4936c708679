import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging

/// The least that the gateway's HTTP library can do: one route, a fixed answer, the gateway's listener settings.
struct HelloCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hello", abstract: "Serve 'Hello' on a free port, which is printed.")

    func run() async throws {
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: 32 * 1024, maxHeaderListSize: 64 * 1024, maxHeaderFieldCount: 100)
        let router = Router()
        router.get("hello") { _, _ in "Hello" }
        var logger = Logger(label: "hello")
        logger.logLevel = .warning
        let application = Application(
            responder: router.buildResponder(),
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(60), httpDecoderConfiguration: limits)),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), backlog: 1024, reuseAddress: true),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
            }, logger: logger)
        try await application.run()
    }
}
