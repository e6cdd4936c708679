package import ArgumentParser
internal import CommandKit
internal import ContractReflection
internal import ContractRuntime
internal import Faults
internal import Foundation
internal import LoadTool
internal import Logging
internal import NIOPosix
internal import Rpc
internal import ServiceKit
internal import StrictJson
internal import Transport

/// `boxoffice call SERVICE METHOD REQUEST`.
package struct CallCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call one method of a service, with JSON in and out.",
        discussion: """
            Without a method it lists what the service offers. Names and types come from the service itself (reflection), so it need not be one of \
            this checkout. JSON is protobuf's own form: names in lowerCamelCase, 64-bit numbers as strings, bytes in base64, enum values by name. \
            The items of a stream are printed as they come, until it ends, --items have come or the time is over.

            Exit codes: 0 the call was answered, 1 with a fault, 2 the arguments are wrong, 4 the service could not be reached.
            """
    )

    @Argument(help: "config, authentication, authorization or autosignin.", completion: .rpcServices)
    var service: String

    @Argument(help: "METHOD, Service.METHOD or package.Service/METHOD; letters of either case.")
    var method: String?

    @Argument(help: "The request as JSON; @FILE for a file, - for standard input.")
    var request = "{}"

    @Flag(help: "Print a request with all its fields, to be filled in, and end.")
    var template = false

    @Option(help: "How long it may take: 500ms, 10s, 1m.")
    var timeout = TimeSpan(.seconds(10))

    @Option(help: "End a stream after this many items.")
    var items: Int?

    @OptionGroup(title: "Target") var peer: PeerOptions

    package init() {}

    package func run() async throws {
        do {
            try await talk()
        } catch let error as OptionRejection {
            throw Self.exit("\(error)", .usage)
        } catch let error as Answered {
            let details = error.fault.retryAfter.map { "; try again after \($0)" } ?? ""
            let message = details.isEmpty ? error.fault.message : error.fault.message.withoutEnd
            throw Self.exit("\(service) answered \(error.fault.code.rawValue): \(message)\(details)", .failed)
        } catch let fault as Fault where fault.code == .unavailable {
            throw Self.exit(
                fault.cause.map { "\(fault.message.withoutEnd): \(LoadFailure.describe($0))" }
                    ?? fault.message, .unreachable)
        } catch let problem as MessageRejection {
            throw Self.exit("\(service) answered with what its own description does not fit: \(problem)", .failed)
        } catch {
            throw Self.exit(LoadFailure.describe(error), .ofStart(error))
        }
    }

    private static func exit(_ reason: String, _ exit: CommandExit) -> ExitCode {
        CommandExit.explain(reason)
        return exit.exitCode
    }

    /// At once, also into a pipe.
    private static func show(_ text: String) { StandardStream.output.writeOrEnd(Data((text + "\n").utf8)) }

    /// A fault of the method that was asked for.
    private struct Answered: Error {
        let fault: Fault
    }

    private func talk() async throws {
        guard let service = ClusterService(rawValue: service), service != .gateway, service != .sandbox else {
            throw OptionRejection("'\(service)' is not a service that speaks the wire", "give config, authentication, authorization or autosignin")
        }
        guard timeout.duration > .zero else { throw OptionRejection("--timeout", "give a time above 0") }
        if let items, items < 1 { throw OptionRejection("--items \(items)", "give 1 or more") }
        let cluster = try ClusterFile.read(peer.clusterHome)
        var configuration = RpcClient.Configuration(
            addresses: try peer.addresses(of: service, cluster), peerName: peer.name(of: service), identity: try peer.identity(cluster),
            software: "boxoffice-call")
        configuration.frameBytes = 64 * 1024 * 1024
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let client = RpcClient(configuration: configuration, group: group, logger: Logger(label: "call") { _ in SwiftLogNoOpLogHandler() })
        let outcome = await Result { try await use(client, service) }
        await client.shutDown()
        try await group.shutdownGracefully()
        try outcome.get()
    }

    private func use(_ client: RpcClient, _ service: ClusterService) async throws {
        let reflected = try await ReflectedService(service, client, patience: timeout.duration)
        guard let name = method else { return Self.show(reflected.listing) }
        let method = try reflected.method(name)
        if template { return Self.show(reflected.schema.skeleton(of: method.request)) }
        let requests = try JsonRequest(schema: reflected.schema, method: method).encoded(try JsonRequest.text(of: request), option: "the request")
        for request in requests { try await call(method, request, client, reflected.schema) }
    }

    private func call(_ method: MethodSchema, _ request: [UInt8], _ client: RpcClient, _ schema: ContractSchema) async throws {
        let context = CallContext(deadline: .now.advanced(by: timeout.duration))
        do {
            guard method.isStream else {
                return Self.show(try schema.json(try await client.call(method.identity, request: request, context: context), of: method.response))
            }
            var count = 0
            for try await item in try await client.stream(method.identity, request: request, context: context) {
                Self.show(try schema.json(item, of: method.response))
                count += 1
                if count == items { return }
            }
        } catch let fault as Fault {
            // The time for a stream is how long it is listened to.
            if method.isStream, fault.code == .deadlineExceeded { return }
            throw fault.code == .unavailable ? fault : Answered(fault: fault)
        }
    }
}

/// Requests as somebody writes them: JSON for one message, or an array of several.
struct JsonRequest {
    let schema: ContractSchema
    let method: MethodSchema

    /// - Parameters:
    ///   - text: JSON.
    ///   - option: Where it comes from, for messages.
    /// - Returns: The encoded messages.
    /// - Throws: `OptionRejection` with line, column and field of what does not fit.
    func encoded(_ text: String, option: String) throws(OptionRejection) -> [[UInt8]] {
        let document: JsonDocument
        do throws(JsonSyntaxError) {
            document = try JsonDocument(parsing: Array(text.utf8))
        } catch {
            throw OptionRejection(option, "it is not JSON: \(error)")
        }
        let nodes: [JsonNode] = if case .array(let elements) = document.root.content { elements } else { [document.root] }
        guard !nodes.isEmpty else { throw OptionRejection(option, "the array holds no request") }
        var requests: [[UInt8]] = []
        for node in nodes {
            do throws(JsonMessageRejection) {
                requests.append(try schema.encode(node, as: method.request))
            } catch {
                throw OptionRejection(option, "\(document.position(of: error.offset)): \(error)")
            }
        }
        return requests
    }

    /// `@FILE` is the text of a file, `-` what comes on standard input.
    static func text(of argument: String) throws -> String {
        if argument == "-" {
            var lines: [String] = []
            while let line = readLine(strippingNewline: false) { lines.append(line) }
            return lines.joined()
        }
        return argument.hasPrefix("@") ? try TextFile.read(String(argument.dropFirst())) : argument
    }
}

/// The service to talk to, and the identity of the caller.
struct PeerOptions: ParsableArguments {
    @Option(help: "host:port of the service instead of the local cluster's; several copies with commas between them.")
    var address: String?

    @Option(help: "Name in the service's certificate. (default: SERVICE.boxoffice)")
    var peerName: String?

    @Option(help: "The tool's certificate, PEM. (default: the local cluster's operator)", completion: .file())
    var certificate: String?

    @Option(help: "Its key, PEM.", completion: .file())
    var key: String?

    @Option(help: "The authority of the service's certificate, PEM.", completion: .file())
    var ca: String?

    @Option(help: "Folder of the cluster. (default: BOXOFFICE_HOME, or .boxoffice in the checkout)", completion: .directory)
    var home: String?

    /// The options that were given, by their names.
    var given: [String] {
        [
            ("--address", address), ("--peer-name", peerName), ("--certificate", certificate), ("--key", key), ("--ca", ca), ("--home", home),
        ].filter { $0.1 != nil }.map(\.0)
    }

    var clusterHome: ClusterHome {
        home.map { ClusterHome(root: URL(fileURLWithPath: $0)) }
            ?? ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
    }

    /// - Parameter cluster: Where the service is found when no address was given.
    func addresses(of service: ClusterService, _ cluster: ClusterFile?) throws -> [RpcAddress] {
        guard let text = address ?? cluster?.services[service.rawValue]?.address else {
            throw CommandFailure(
                "no cluster runs in \(clusterHome.root.path)",
                advice: "start one with ./Services/up, or pass --address, --certificate, --key and --ca", exit: .unreachable)
        }
        return try text.split(separator: ",").map { part in
            guard let address = RpcAddress(String(part)) else { throw OptionRejection("--address '\(part)'", "give host:port") }
            return address
        }
    }

    func identity(_ cluster: ClusterFile?) throws -> TlsIdentity {
        guard let certificate = certificate ?? cluster?.pki.clientCert, let key = key ?? cluster?.pki.clientKey, let ca = ca ?? cluster?.pki.ca
        else { throw CommandFailure("the tool has no certificate", advice: "pass --certificate, --key and --ca, or --home of a cluster") }
        return try TlsIdentity(files: TlsFiles(certificate: certificate, key: key, trustAnchors: ca))
    }

    func name(of service: ClusterService) -> String { peerName ?? service.certificateName }
}
