internal import Octets
package import Foundation

/// Signs calls with a key pair of the application, as apps did before client registration (clients §2).
package struct RequestSigner: Sendable, Hashable {
    let requestor: String
    let publicKey: String
    let secret: String

    /// - Parameters:
    ///   - requestor: The requestor of the calls.
    ///   - publicKey: Names the pair to the server.
    ///   - secret: The same in every copy of the app.
    package init(requestor: String, publicKey: String, secret: String) {
        (self.requestor, self.publicKey, self.secret) = (requestor, publicKey, secret)
    }

    /// Value of `Authorization`.
    /// - Parameter path: The path of the call, without query.
    package func header(_ method: String, _ path: String, now: Date, nonce: String = UUID().uuidString.lowercased()) -> String {
        let time = Int64(now.timeIntervalSince1970 * 1000)
        let text =
            "\(method) requestor_id=\(requestor), nonce=\(nonce), signature_method=HMAC-SHA1, request_time=\(time), request_uri=\(path)"
        return "\(text), public_key=\(publicKey), signature=\(code(text).base64EncodedString())"
    }

    private func code(_ text: String) -> Data { Hashes.hmacSHA1(Data(text.utf8), key: Data(secret.utf8)) }
}
