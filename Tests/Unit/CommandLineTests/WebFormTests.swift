@testable import BoxofficeCommand
import Testing

@Suite struct WebForms {
    @Test func findsActionMethodAndFields() throws {
        let page = """
            <html><body><p>Hello</p><FORM id="f" action='https://idp.example/sso?a=1&amp;b=2' method="POST">
            <input type="hidden" name="SAMLRequest" value="PHg+&#43;&quot;"><input name="RelayState" value='r&#x41;'><input type="submit" value="Go">
            </FORM></body></html>
            """
        let form = try #require(WebForm(html: page))
        #expect(form.action == "https://idp.example/sso?a=1&b=2")
        #expect(form.method == "post")
        #expect(form.fields.map(\.name) == ["SAMLRequest", "RelayState"])
        #expect(form.fields.map(\.value) == ["PHg++\"", "rA"])
    }

    @Test func fillsFieldsAndEncodesThem() throws {
        var form = try #require(WebForm(html: #"<form action="/x"><input name="username"></form>"#))
        form.fill("username", "a b&c")
        form.fill("password", "ü+")
        #expect(form.method == "get")
        #expect(form.encoded == "username=a%20b%26c&password=%C3%BC%2B")
    }

    @Test func aPageWithoutAFormHasNone() {
        #expect(WebForm(html: "<p>No form here</p>") == nil)
    }

    @Test func anUnknownEntityStaysAsItIs() throws {
        #expect(try #require(WebForm(html: #"<form action="/x?a&nope;&#xFFFFFFFF;"></form>"#)).action == "/x?a&nope;&#xFFFFFFFF;")
    }
}
