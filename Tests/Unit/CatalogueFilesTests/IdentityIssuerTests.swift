import CatalogueSamples
import Contracts
import Cryptography
import Foundation
import Testing
import Tokens

@Suite("Issuers of platform identities")
struct IdentityIssuerTests {
    private let keys: JSONWebKeySet

    init() throws { keys = JSONWebKeySet(keys: [JSONWebKey(.p256(try P256PrivateKey.generate().publicKey), identifier: "roku-1")]) }

    private func world(_ keys: String, issuer: String = "https://identity.example") throws -> CatalogueFolder {
        let world = try CatalogueFolder()
        let issuers = #""platformIdentityIssuers": [{"issuer": "\#(issuer)", "jwks": \#(keys)}], "applications""#
        try world.replace(#""applications""#, with: issuers)
        return world
    }

    @Test("a key set is read in place and from a file")
    func reads() throws {
        let inPlace = try world(keys.json)
        let inFile = try world(#"{"file": "identity.json"}"#)
        try inFile.write(keys.json, to: "identity.json")
        let issuers = [PlatformIdentityIssuer(issuer: "https://identity.example", jwks: keys.json)]
        #expect(try inPlace.file.read(now: CatalogueFolder.now).configuration.platformIdentityIssuers == issuers)
        #expect(try inFile.file.read(now: CatalogueFolder.now).configuration.platformIdentityIssuers == issuers)
    }

    @Test("each key names its algorithm, fits it, and is public")
    func refusesKeys() throws {
        let withoutAlgorithm = keys.json.replacingOccurrences(of: #""alg":"ES256","#, with: "")
        let withOther = keys.json.replacingOccurrences(of: "ES256", with: "RS256")
        let secret = keys.json.replacingOccurrences(of: #""alg""#, with: #""d":"AAAA","alg""#)
        for (text, words) in [
            (withoutAlgorithm, "is missing"), (withOther, "does not fit its algorithm"), (secret, "private key"), (#"{"keys": []}"#, "at least"),
            (#"{"file": "absent.json"}"#, "does not exist"),
        ] {
            let problems = try world(text).problems()
            #expect(problems.count == 1)
            #expect(problems.first?.hasPrefix("platformIdentityIssuers[0].jwks") == true)
            #expect(problems.first?.contains(words) == true)
        }
    }
}
