@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing

/// A compact JWS of the cluster with other claims, signed again with the cluster's own key.
enum ResignedToken {
    /// - Parameters:
    ///   - key: File name in the cluster's PKI, a P-256 key.
    ///   - claims: Take the place of those of the same name.
    static func make(from token: String, key: String, claims: [String: any Sendable]) throws -> String {
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let content = Data(try #require(Base64.url.decode(parts[1])))
        var payload = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
        for (name, value) in claims { payload[name] = value }
        let signed = parts[0] + "." + Base64.url.encode(Array(try JSONSerialization.data(withJSONObject: payload)))
        let path = try TestCluster.running().home.pki.appendingPathComponent(key).path
        return signed + "." + Base64.url.encode(try P256PrivateKey(pemFile: path).sign(Array(signed.utf8)))
    }
}
