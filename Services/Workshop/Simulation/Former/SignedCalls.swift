package import CommandKit
package import EntitlementClient
internal import Foundation
internal import TextEncodings

/// The calls of apps from before client registration: each is signed with a pair of the application (clients §2).
package struct SignedCalls: Sendable {
    let exchange: HTTPExchange
    let gateway: String
    let signer: RequestSigner
    let requestor: String
    let deviceID: String
    /// As Kodi's add-ons send them: all in the query, JSON by a parameter. Else as recorders do, by `Accept`.
    let isKodi: Bool

    /// - Throws: `CommandFailure` when the cluster has no pair.
    package static func signer(_ cluster: ClusterFile?, requestor: String) throws -> RequestSigner {
        guard let pair = cluster?.signedRequests?["acme-legacy"] else {
            throw CommandFailure(
                "the cluster has no key pair to sign with", advice: "the local cluster's demo catalogue has the application acme-legacy")
        }
        return RequestSigner(requestor: requestor, publicKey: pair.publicKey, secret: pair.secret)
    }

    func send(_ method: String, _ path: String, _ query: [(String, String)] = []) async throws -> HTTPAnswer {
        var all = query
        if isKodi { all.append(("format", "json")) }
        // The end of the path is signed, as clients are seen to do.
        let signed = path.replacing("/api/v1", with: "").replacing("/reggie/v1/\(requestor)", with: "")
        var headers = [("Authorization", signer.header(method, signed, now: Date()))]
        if !isKodi { headers.append(("Accept", "application/json")) }
        let body = method == "POST" ? "" : nil
        if body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return try await exchange.send(method, "\(gateway)\(path)?\(FormEncoding.encode(all))", headers: headers, body: body)
    }

    var own: [(String, String)] { [("requestor", requestor), ("deviceId", deviceID)] }
}
