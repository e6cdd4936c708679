import AutoSignInService
import Clocks
import Cryptography
import Foundation

/// A token as Apple issues them, and what it is held against.
struct Subject {
    private struct Refused: Error {}

    let token: String
    private let key: RSAPublicKey
    private let verifier: IdentityTokenVerifier
    private let signedBytes: [UInt8]
    private let signature: [UInt8]
    private static let clientID = "example.acme.tv"
    private static let nonce = "b2xkLXRlbGV2aXNpb24tc2V0cy1kcmVhbS1vZi1zbm93"
    private static let code = "c2f4a1b0d6e94b1f8f5a0c3d2e1b4a697.0.rrzts.pA9kqXn4Yw7TzB3mVhLcUg"
    private static let now = Timestamp(seconds: 1_930_384_800)

    init() throws {
        let privateKey = try RSAPrivateKey.generate()
        key = privateKey.publicKey
        verifier = IdentityTokenVerifier(keys: AppleKeySet(["K7Q2M9XD4A": .usable(key)]))
        let hash = Base64.url.encode(Array(SHA256.hash(Self.code).prefix(16)))
        let claims = """
            {"iss":"https://appleid.apple.com","aud":"\(Self.clientID)","exp":\(Self.now.seconds + 86_400),"iat":\(Self.now.seconds),\
            "sub":"001834.5d1c0a2be4f94c7795c1d60d3e8a4b72.1337","nonce":"\(Self.nonce)","c_hash":"\(hash)",\
            "email":"q7v9k2m4xw@privaterelay.appleid.com","email_verified":"true","is_private_email":"true","auth_time":\(Self.now.seconds),\
            "nonce_supported":true,"real_user_status":2}
            """
        let header = #"{"kid":"K7Q2M9XD4A","alg":"RS256"}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        signedBytes = Array(input.utf8)
        signature = try privateKey.sign(signedBytes)
        token = input + "." + Base64.url.encode(signature)
    }

    /// The checks V1 to V9 with keys at hand, per second of processor time, on this thread.
    func verifications(seconds: Double) throws -> Double {
        let expected = IdentityTokenExpectation(clientID: Self.clientID, nonce: Self.nonce, code: Self.code)
        return try rate(seconds) { _ = try verifier.verify(token, expecting: expected, now: Self.now) }
    }

    func signatureChecks(seconds: Double) throws -> Double {
        try rate(seconds) { guard key.isValid(signature, for: signedBytes) else { throw Refused() } }
    }

    private func rate(_ seconds: Double, _ work: () throws -> Void) throws -> Double {
        let start = Self.processorTime
        var done = 0
        var spent = 0.0
        while spent < seconds {
            for _ in 0..<100 { try work() }
            done += 100
            spent = Self.processorTime - start
        }
        return Double(done) / spent
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
