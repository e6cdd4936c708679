internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadTool
internal import Rpc
internal import Transport

/// Which service to talk to, and as whom.
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

    /// What was given, by the names of the options.
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
            guard let address = RpcAddress(String(part)) else { throw BadOption("--address '\(part)'", "give host:port") }
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
