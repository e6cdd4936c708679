import Cryptography
import Testing

@testable import BridgeClient

/// The reading of a media token that is not ours (bridge §9.4, B70).
@Suite struct MediaTokenTests {
    private func jws(_ claims: String) -> String { "e30." + Base64.url.encode(Array(claims.utf8)) + ".c2ln" }

    @Test("the person's id is read of both forms, whatever else they hold")
    func reads() {
        #expect(UpstreamMediaToken(jws(#"{"sub": "guid-1", "iat": 5}"#)).sessionGUID == "guid-1")
        #expect(UpstreamMediaToken(jws(#"{"sub": "s", "sessionGUID": "guid-2"}"#)).sessionGUID == "guid-2")
        let xml = "<signatureInfo>x</signatureInfo><authToken><sessionGUID>guid-3</sessionGUID></authToken>"
        #expect(UpstreamMediaToken(Base64.standard.encode(Array(xml.utf8))).sessionGUID == "guid-3")
    }

    @Test("bridge B70: the MVPD in between is told where it is another one")
    func readsProxies() {
        func token(_ elements: String) -> String? {
            UpstreamMediaToken(Base64.standard.encode(Array("<a><sessionGUID>g</sessionGUID>\(elements)</a>".utf8))).proxyMvpd
        }
        #expect(token("<mvpdId>HillTel</mvpdId><proxyMvpdId>ProxyNet</proxyMvpdId>") == "ProxyNet")
        #expect(token("<mvpdId>HillTel</mvpdId><proxyMvpdId>HillTel</proxyMvpdId>") == nil)
        #expect(token("<mvpdId>HillTel</mvpdId>") == nil)
        #expect(UpstreamMediaToken(jws(#"{"sub": "g", "mvpd": "HillTel", "proxyMvpd": "ProxyNet"}"#)).proxyMvpd == "ProxyNet")
    }

    @Test(
        "what cannot be read is none, and never a failure",
        arguments: ["", "garbage", "a.b.c", "e30.W10.c2ln", "e30.e30.c2ln", "PHNlc3Npb25HVUlEPg==", String(repeating: "A", count: 70_000)])
    func ignores(text: String) {
        #expect(UpstreamMediaToken(text).sessionGUID == nil)
        #expect(UpstreamMediaToken(jws("{\"sub\": \"\(String(repeating: "x", count: 300))\"}")).sessionGUID == nil)
    }
}
