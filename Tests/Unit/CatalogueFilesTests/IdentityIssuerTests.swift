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

    @Test("rest-v2 §1.3: HS256 has a secret by reference in place of keys; an encryption names algorithm, content and secret")
    func secrets() throws {
        func world(_ members: String) throws -> CatalogueFolder {
            let world = try CatalogueFolder()
            try world.replace(
                #""applications""#, with: #""platformIdentityIssuers": [{"issuer": "https://fire.example", \#(members)}], "applications""#)
            return world
        }
        let encryption = #""encryption": {"algorithm": "RSA-OAEP-256", "content": "A128GCM", "secret": "fire-decryption"}"#
        let written = try world(#""algorithm": "HS256", "secret": "fire-signing", \#(encryption)"#)
        #expect(written.problems() == [])
        let read = try written.file.read(now: CatalogueFolder.now).configuration
        #expect(
            read.platformIdentityIssuers == [
                PlatformIdentityIssuer(
                    issuer: "https://fire.example", algorithm: "HS256", secretReference: "fire-signing", encryptionAlgorithm: "RSA-OAEP-256",
                    contentEncryption: "A128GCM", encryptionSecretReference: "fire-decryption")
            ])
        #expect(try world(#""algorithm": "ES256", "jwks": \#(keys.json)"#).problems().isEmpty)
        for (members, place, words) in [
            (#""algorithm": "HS256""#, "secret", "missing"),
            (#""algorithm": "HS256", "secret": "s", "jwks": \#(keys.json)"#, "jwks", "has no meaning"),
            (#""secret": "s", "jwks": \#(keys.json)"#, "secret", "HS256 alone"),
            (#""algorithm": "none", "jwks": \#(keys.json)"#, "algorithm", "must be one of"),
            (#""algorithm": "RS256", "jwks": \#(keys.json)"#, "jwks", "alg"), (#""jwks": \#(keys.json), "encryption": {}"#, "encryption", "missing"),
        ] {
            let problems = try world(members).problems()
            #expect(
                problems.first?.hasPrefix("platformIdentityIssuers[0].\(place)") == true && problems.first?.contains(words) == true, "\(problems)")
        }
    }

    @Test("issuers of service tokens: RSA keys alone, programmers of the catalogue, each issuer once, none with our name")
    func serviceTokenIssuers() throws {
        let rsa = JSONWebKeySet(keys: [JSONWebKey(.rsa(try RSAPrivateKey.generate().publicKey), algorithm: .rs256)]).json
        func world(_ issuers: String) throws -> CatalogueFolder {
            let world = try CatalogueFolder()
            try world.replace(#""applications""#, with: #""serviceTokenIssuers": [\#(issuers)], "applications""#)
            return world
        }
        func issuer(_ keys: String, _ programmers: String, name: String = "https://identity.example") -> String {
            #"{"issuer": "\#(name)", "jwks": \#(keys), "programmers": \#(programmers)}"#
        }
        let programmer = "harbor"
        let good = issuer(rsa, #"["\#(programmer)"]"#)
        let folder = try world(good)
        let read = try folder.file.read(now: CatalogueFolder.now).configuration.serviceTokenIssuers
        #expect(read == [ServiceTokenIssuer(issuer: "https://identity.example", jwks: rsa, programmerIDs: [programmer])])
        for (text, place, words) in [
            (issuer(keys.json, #"["\#(programmer)"]"#), "[0].jwks", "alg"),
            (issuer(rsa, #"["nobody"]"#), "[0].programmers[0]", "not in the catalogue"),
            (issuer(rsa, "[]"), "[0].programmers", ""), ("\(good), \(good)", "[1].issuer", "which another one has"),
            (issuer(rsa, #"["\#(programmer)"]"#, name: "ssoservicetoken"), "[0].issuer", "our own"),
        ] {
            let problems = try world(text).problems()
            #expect(problems.count == 1 && problems.first?.hasPrefix("serviceTokenIssuers\(place)") == true, "\(problems)")
            #expect(words.isEmpty || problems.first?.contains(words) == true, "\(problems)")
        }
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
