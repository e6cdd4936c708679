' Sign-in and entitlement over REST v1, for a channel on Roku. Never run on a device: see README.md.
' Each function makes the request that requests.json has under its name. They block: call them from a Task node.
' Names of fields stand in quotation marks where letter case counts: BrightScript writes the others in small letters.

' server: the gateway's public address, without a slash at the end. information: an object with at least model and osName.
function Entitlement(server as string, requestor as string, statement as string, information as object) as object
    device = CreateObject("roDeviceInfo")
    bytes = CreateObject("roByteArray")
    bytes.FromAsciiString(FormatJson(information))
    return {
        server: server, requestor: requestor, statement: statement, deviceId: device.GetChannelClientId(), information: bytes.ToBase64String()
        kept: CreateObject("roRegistrySection", "boxoffice"), token: "", ends: 0
        register: Entitlement_register, bearer: Entitlement_bearer, providers: Entitlement_providers, code: Entitlement_code
        session: Entitlement_session, authorize: Entitlement_authorize, mediaToken: Entitlement_mediaToken
        preauthorize: Entitlement_preauthorize, metadata: Entitlement_metadata, logout: Entitlement_logout
        call: Entitlement_call, send: Entitlement_send, form: Entitlement_form, device: Entitlement_device
    }
end function

' Once for each installation: what comes back is kept.
function Entitlement_register() as boolean
    if m.kept.Exists("client_secret") then return true
    answer = m.send("POST", "/o/client/register", { "Content-Type": "application/json" }, FormatJson({ "software_statement": m.statement }))
    if answer.status <> 201 then return false
    m.kept.Write("client_id", answer.json.client_id)
    m.kept.Write("client_secret", answer.json.client_secret)
    m.kept.Flush()
    return true
end function

' The access token, which lasts some hours. An empty text where there is none.
function Entitlement_bearer() as string
    now = CreateObject("roDateTime").AsSeconds()
    if m.token <> "" and now < m.ends then return m.token
    m.token = ""
    if not m.register() then return ""
    fields = { client_id: m.kept.Read("client_id"), client_secret: m.kept.Read("client_secret"), grant_type: "client_credentials" }
    answer = m.send("POST", "/o/client/token", { "Content-Type": "application/x-www-form-urlencoded" }, m.form(fields))
    if answer.json <> invalid and answer.json.error <> invalid and answer.json.error = "invalid_client" then m.kept.Delete("client_secret")
    if answer.status <> 201 then return ""
    m.token = answer.json.access_token
    m.ends = now + answer.json.expires_in - 60
    return m.token
end function

' The TV providers: objects with id, displayName and logoUrl.
function Entitlement_providers() as object
    answer = m.call("GET", "/api/v1/config/" + m.requestor, {}, invalid)
    if answer.status <> 200 then return []
    return answer.json.requestor.mvpds
end function

' A code for the page on which people type it: the gateway's own is server + "/activate". Shown until expires (ms).
function Entitlement_code() as object
    return m.call("POST", "/reggie/v1/" + m.requestor + "/regcode", {}, { "deviceId": m.deviceId }).json
end function

' Who is signed in; invalid where nobody is. While a code is shown, ask every five seconds.
function Entitlement_session() as object
    answer = m.call("GET", "/api/v1/tokens/authn", m.device(""), invalid)
    if answer.status <> 200 then return invalid
    return answer.json
end function

' Whether a resource may be played: status 200, or 403 with the provider's words in json.details.
function Entitlement_authorize(resource as string) as object
    return m.call("GET", "/api/v1/authorize", m.device(resource), invalid)
end function

' For the backend that gives out the stream, once, right after authorize. An empty text where there is none.
function Entitlement_mediaToken(resource as string) as string
    answer = m.call("GET", "/api/v1/mediatoken", m.device(resource), invalid)
    if answer.status <> 200 then return ""
    return answer.json["serializedToken"]
end function

' Locks on a page: objects with id and authorized. At most five resources, unless the channel's limit says otherwise.
function Entitlement_preauthorize(resources as object) as object
    answer = m.call("POST", "/api/v1/preauthorize", {}, m.device(resources.Join(",")))
    if answer.status <> 200 then return []
    return answer.json.resources
end function

' What the channel may know of the person.
function Entitlement_metadata() as object
    answer = m.call("GET", "/api/v1/tokens/usermetadata", m.device(""), invalid)
    if answer.status <> 200 then return {}
    return answer.json.data
end function

function Entitlement_logout() as boolean
    return m.call("DELETE", "/api/v1/logout", m.device(""), invalid).status = 204
end function

' A call with a bearer. A token that the server has forgotten is replaced, once.
function Entitlement_call(method as string, path as string, query as object, fields as object) as object
    if query.Count() > 0 then path = path + "?" + m.form(query)
    answer = { status: 0, json: invalid }
    for attempt = 1 to 2
        token = m.bearer()
        if token = "" then return answer
        headers = { "Authorization": "Bearer " + token, "X-Device-Info": m.information }
        body = invalid
        if fields <> invalid
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = m.form(fields)
        end if
        answer = m.send(method, path, headers, body)
        if answer.status <> 401 then return answer
        m.token = ""
    end for
    return answer
end function

' One request; "too many" and "not now" are asked again after a second, twice.
function Entitlement_send(method as string, path as string, headers as object, body as dynamic) as object
    for attempt = 1 to 3
        transfer = CreateObject("roUrlTransfer")
        port = CreateObject("roMessagePort")
        transfer.SetMessagePort(port)
        transfer.SetCertificatesFile("common:/certs/ca-bundle.crt")
        transfer.RetainBodyOnError(true)
        transfer.SetUrl(m.server + path)
        transfer.SetHeaders(headers)
        transfer.AddHeader("Accept", "application/json")
        transfer.SetRequest(method)
        if body <> invalid
            started = transfer.AsyncPostFromString(body)
        else
            started = transfer.AsyncGetToString()
        end if
        event = invalid
        if started then event = Wait(30000, port)
        if event = invalid
            transfer.AsyncCancel()
            return { status: 0, json: invalid }
        end if
        status = event.GetResponseCode()
        if status <> 429 and status <> 503 then return { status: status, json: ParseJson(event.GetString()) }
        Sleep(1000)
    end for
    return { status: status, json: invalid }
end function

function Entitlement_form(fields as object) as string
    encoder = CreateObject("roUrlTransfer")
    pairs = []
    for each name in fields
        pairs.Push(name + "=" + encoder.Escape(fields[name]))
    end for
    return pairs.Join("&")
end function

function Entitlement_device(resource as string) as object
    fields = { "requestor": m.requestor, "deviceId": m.deviceId }
    if resource <> "" then fields["resource"] = resource
    return fields
end function
