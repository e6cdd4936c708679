package import CommandKit
internal import EntitlementClient
internal import Foundation

/// Where simulated devices live: the cluster, and the app that runs on them.
package struct DeviceGround: Sendable {
    let exchange: HTTPExchange
    /// Base URL of the gateway.
    let gateway: String
    let requestor: String
    /// The app's software statement.
    let statement: String
    /// Base URL of the stand-in Apple; `nil` where there is none.
    var apple: String?
    /// The app's bundle id at Apple.
    var bundleID = "example.acme.tv"
    /// PEM; `nil`: fetched from the gateway.
    var certificates: String?
    /// PEM of what the gateway does not publish; `nil`: nothing.
    var upstreamCertificates: String?

    package init(
        exchange: HTTPExchange, gateway: String, requestor: String, statement: String, apple: String? = nil, bundleID: String = "example.acme.tv",
        certificates: String? = nil, upstreamCertificates: String? = nil
    ) {
        self.exchange = exchange
        self.gateway = gateway
        self.requestor = requestor
        self.statement = statement
        self.apple = apple
        self.bundleID = bundleID
        self.certificates = certificates
        self.upstreamCertificates = upstreamCertificates
    }

    /// The gateway as an address.
    func server() throws -> URL {
        guard let url = URL(string: gateway), url.host != nil else {
            throw CommandFailure("'\(gateway)' is not the address of a gateway", advice: "give one like http://127.0.0.1:8080")
        }
        return url
    }

    /// The stand-in Apple as an address.
    func standIn() throws -> URL {
        guard let apple, let url = URL(string: apple) else {
            throw CommandFailure("no cluster runs here, and so no stand-in Apple", advice: "start one with ./Services/up", exit: .unreachable)
        }
        return url
    }
}
