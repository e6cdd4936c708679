@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Dashboard §8: the language from `Accept-Language`, else English; a person may choose another one.
@Suite struct LanguageTests {
    private let gateway = TestGateway()

    @Test(
        arguments: [
            ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("pt-BR", "pt"), ("FR-ca", "fr"), ("es-419;q=0.3, fr;q=0.7", "fr"),
            ("fr;q=0.5, es;q=0.5", "fr"),
            ("da, it;q=0.9", "en"), ("da, *;q=0.1", "en"), ("en;q=0, *", "de"), ("de;q=0, en;q=0.1", "en"), ("de;q=0", "en"), ("", "en"), ("*", "en"),
            ("de;q=1.000,es", "de"), ("de;q=1.5, es;q=0.1", "es"), ("de;q=x, es;q=0.1", "es"), ("de;q=0.0001, es;q=0.001", "es"), (";q=1,,de", "de"),
            (" fr ; q=0.8 , de ; q=0.9 ", "de"), ("zh-Hant-TW, pt-PT;q=0.2", "pt"), ("deu", "en"), ("d", "en"), ("de-", "de"),
        ])
    func theBestLanguageIsChosen(field: String, tag: String) async throws {
        let reply = try await gateway.get("/activate", [.acceptLanguage: field])
        #expect(reply.text.contains(#"<html lang="\#(tag)" dir="ltr">"#), "\(field)")
        #expect(reply.headers[.contentLanguage] == tag)
    }

    @Test("of a field that is too long only the beginning is read")
    func longFieldsAreBounded() async throws {
        let long = String(repeating: "xx;q=0.1,", count: 2000) + "de"
        #expect(try await gateway.get("/activate", [.acceptLanguage: long]).headers[.contentLanguage] == "en")
        let many = "fr;q=0.2," + String(repeating: "xx,", count: 100) + "de"
        #expect(try await gateway.get("/activate", [.acceptLanguage: many]).headers[.contentLanguage] == "fr")
    }

    @Test("a link without a script changes the language, and the browser keeps it through the flow")
    func aChosenLanguageIsKept() async throws {
        let page = try await gateway.get("/activate?code=QK7M2XD", [.acceptLanguage: "de"])
        #expect(page.text.contains(#"<a href="/activate?code=QK7M2XD&amp;lang=es" lang="es" hreflang="es" rel="nofollow">Español</a>"#))
        #expect(!page.text.contains("lang=de\"") && page.headers[.setCookie] == nil)
        let secret = try await gateway.get(
            "/activate?code=QK7M2XD&access_token=s3cret&q=\(String(repeating: "x", count: 300))", [.acceptLanguage: "de"])
        #expect(secret.text.contains(#"href="/activate?code=QK7M2XD&amp;lang=es""#) && !secret.text.contains("s3cret"))
        let chosen = try await gateway.get("/activate?code=QK7M2XD&lang=es", [.acceptLanguage: "de"])
        #expect(chosen.text.contains("Conecta tu televisor") && chosen.text.contains(#"value="QK7M2XD""#))
        let cookie = try #require(chosen.headers[.setCookie]?.prefix { $0 != ";" })
        let next = try await gateway.get("/activate/providers?code=QK7M2XD", [.acceptLanguage: "de", .cookie: "a=b; \(cookie)"])
        #expect(next.text.contains("Elige tu proveedor de TV") && next.headers[.setCookie] == nil)
        let refused = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: "SAMLResponse=x&SAMLResponse=y", [.cookie: String(cookie)])
        #expect(refused.text.contains("No se pudo iniciar sesión") && refused.headers[.contentLanguage] == "es")
    }

    @Test("mvpd §2.2: a browser that drops SameSite=None keeps its language by a cookie without the attribute")
    func anOldBrowserKeepsItsLanguage() async throws {
        func cookie(_ fields: HTTPFields) throws -> String? {
            PageReader(try gateway.dependencies().pages.languages, fields, target: "/activate?lang=es", isGet: true, isSecure: true).cookie
        }
        #expect(try cookie([.userAgent: SameSiteNoneTests.webOS4])?.hasSuffix("; Path=/; HttpOnly; Secure") == true)
        #expect(try cookie([:])?.hasSuffix("; Path=/; HttpOnly; Secure; SameSite=None") == true)
    }

    @Test(arguments: ["/activate?lang=xx", "/activate?lang=%22%3E", "/activate?lang=", "/activate?lang=\(String(repeating: "d", count: 300))"])
    func anUnknownLanguageChangesNothing(uri: String) async throws {
        let reply = try await gateway.get(uri, [.acceptLanguage: "fr"])
        #expect(reply.status == 200 && reply.headers[.contentLanguage] == "fr" && reply.headers[.setCookie] == nil)
    }

    @Test(
        "a link to the page in another language never leads to another host", arguments: ["//evil.example/activate", "/devices.evil", "/nowhere?a=b"])
    func linksStayHere(uri: String) async throws {
        #expect(!(try await gateway.get(uri, [:]).text.contains("hreflang")))
    }

    @Test(arguments: ["en", "es", "fr", "de", "pt"])
    func everyPageSpeaksTheLanguage(tag: String) async throws {
        let pages = try Pages(folder: TestGateway.pages, publicOrigin: "https://tv.example")
        let language = try #require(pages.languages.all.first { $0.tag == tag })
        for (uri, key) in [
            ("/activate", "entry.heading"), ("/activate/providers?code=QK7M2XD", "providers.heading"),
            ("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", "confirm.title"), ("/activate/done?code=QK7M2XD&requestor=ACME1", "done.heading"),
            ("/devices", "devices.heading"), ("/devices/open/abc", "open.heading"), ("/nowhere", "notice.not-found"),
        ] {
            let reply = try await gateway.get(uri, [.acceptLanguage: tag])
            #expect(reply.text.contains(language.text(key)) && reply.headers[.contentLanguage] == tag, "\(uri)")
            #expect(!reply.text.contains("[["), "\(uri)")
        }
    }
}
