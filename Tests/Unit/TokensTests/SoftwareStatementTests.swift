import Clocks
import Cryptography
import ManualClocks
import Testing
import Tokens

@Suite struct SoftwareStatementTests {
    private let keys: SigningKeys
    private let statement = SoftwareStatement(softwareID: "software-1", applicationID: "app-1", applicationName: "Player")

    init() throws { keys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate()))) }

    @Test func survivesTheKeySetAsText() throws {
        let text = try SoftwareStatementIssuer(keys: keys, issuer: "config", clock: ManualClock(MediaTokenFixture.now)).issue(statement)
        let verifier = SoftwareStatementVerifier(keySet: try JSONWebKeySet(json: keys.keySet.json))
        #expect(try verifier.verify(text) == statement)
    }

    @Test("rest-v1 #3: a broken signature is refused")
    func refusesBrokenSignatures() throws {
        let text = try SoftwareStatementIssuer(keys: keys, issuer: "config", clock: ManualClock(MediaTokenFixture.now)).issue(statement)
        let verifier = SoftwareStatementVerifier(keySet: keys.keySet)
        let parts = text.split(separator: ".").map(String.init)
        var signature = try #require(Base64.url.decode(parts[2]))
        signature[10] ^= 1
        #expect(throws: TokenRejection.invalidSignature) { try verifier.verify("\(parts[0]).\(parts[1]).\(Base64.url.encode(signature))") }
        #expect(throws: TokenRejection.malformed) { try verifier.verify("\(parts[0]).\(parts[1])") }
    }

    @Test("rest-v1 §3.1: RS256 statements are accepted from a configured RSA key")
    func acceptsRS256() throws {
        let key = try RSAPrivateKey.generate()
        let set = try JSONWebKeySet(json: JSONWebKeySet(keys: [JSONWebKey(.rsa(key.publicKey), identifier: "r1")]).json)
        let input = ["{\"alg\":\"RS256\",\"kid\":\"r1\"}", "{\"software_id\":\"software-1\"}"].map { Base64.url.encode(Array($0.utf8)) }.joined(
            separator: ".")
        let text = input + "." + Base64.url.encode(try key.sign(Array(input.utf8)))
        #expect(try SoftwareStatementVerifier(keySet: set).verify(text).softwareID == "software-1")
        let confused = JSONWebKeySet(keys: [JSONWebKey(.p256(try P256PrivateKey.generate().publicKey), identifier: "r1")])
        #expect(throws: TokenRejection.wrongAlgorithm) { try SoftwareStatementVerifier(keySet: confused).verify(text) }
    }

    @Test("RFC 7638: the thumbprint of its example key")
    func namesKeysByThumbprint() throws {
        let modulus = try #require(
            Base64.url.decode(
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs"
                    + "tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbI"
                    + "SD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"))
        let key = try RSAPublicKey(modulus: modulus, exponent: [1, 0, 1])
        #expect(JSONWebKey(.rsa(key)).identifier == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func keySetsPassOverForeignKeysAndRefuseBrokenOnes() throws {
        #expect(
            try JSONWebKeySet(json: #"{"keys":[{"kty":"oct","kid":"a"},{"kty":"EC","crv":"P-384","kid":"b"},{"kty":"RSA","use":"enc"}]}"#).keys
                .isEmpty)
        #expect(throws: CryptographyError.self) { try JSONWebKeySet(json: #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#) }
        #expect(throws: CryptographyError.self) { try JSONWebKeySet(json: "{}") }
    }
}
