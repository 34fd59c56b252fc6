//! The decision for one request that calls no tool.
//!
//! Every layer that speaks of it must let it through. What Callgate refuses by itself (no usable policy, a request that
//! could be read in two ways, its own folder) is refused also where rules are only observed.

use callgate_protocol::json::Raw;
use callgate_protocol::method::{Class, class};

use crate::call::{Circumstances, Pass, Refusal, RefusalKind, Waived};
use crate::judge::{fits_at_all, no_amount};
use crate::limit::{Limit, Limits, Taking};
use crate::methods::{Family, Layer, Layers, ListRule, MethodRule, Objection, Uris};
use crate::name;
use crate::policy::Policy;
use crate::request::{self, Reference};
use crate::uri::{self, Uri};

/// Requests that no rule of a policy speaks of are let through by this.
const METHODS: &str = "/other_methods";

/// What is left out of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// `resources/list`, by URI.
    Resources,
    /// `resources/templates/list`, by URI template.
    Templates,
    /// `prompts/list`, by name.
    Prompts,
}

/// Why a request does not go on.
enum Stop {
    /// Whatever the policy says.
    Always(Objection),
    Rule(Objection),
}

impl From<Objection> for Stop {
    fn from(objection: Objection) -> Stop {
        Stop::Rule(objection)
    }
}

/// The first rule that lets a request through; what no rule speaks of is let through by [`METHODS`].
type Verdict<'p> = Result<&'p str, Stop>;

impl Policy {
    pub(crate) fn judge_method(
        &self,
        client: &str,
        method: &str,
        params: Option<Raw<'_>>,
        circumstances: &Circumstances<'_>,
    ) -> Result<Pass<'_>, Refusal> {
        let class = class(method);
        if class != Class::Passive {
            self.usable()?;
        }
        // Before it is folded, which takes its time.
        if method.len() > name::LONGEST {
            let (rule, reason) = ("(unusable name)".to_owned(), "the method's name is too long".to_owned());
            return Err(Refusal::new(RefusalKind::Denied, rule, reason));
        }
        // A near miss of the method that calls tools is refused before any rule: some dispatcher may fold it.
        let folded = name::folded(method);
        if folded == "tools/call" {
            let reason = format!("{method:?} is not how a tool is called");
            let rule = "(not a tool call)".to_owned();
            return Err(Refusal::new(RefusalKind::Denied, rule, reason));
        }
        let layers = self.request_layers(client);
        let keep = layers.keep();
        let mut pass = Pass {
            rule: METHODS,
            limits: Limits::none(),
            keep,
            validate: None,
            observing: layers.observing() || circumstances.waived == Waived::Enforcement,
            would: None,
        };
        if class == Class::Passive {
            // A client may name its folders in the handshake, and nothing is opened by that; lists are filtered.
            return Ok(pass);
        }
        let refused = |objection: Objection| {
            let Objection { kind, rule, reason } = objection;
            Refusal { keep, ..Refusal::new(kind, rule, reason) }
        };
        if circumstances.waived == Waived::Everything {
            if let Err(Stop::Always(objection)) = ruled(layers, method, &folded, class, params) {
                return Err(refused(objection));
            }
            self.not_our_home(params).map_err(|refusal| Refusal { keep, ..refusal })?;
            return Ok(pass);
        }
        match ruled(layers, method, &folded, class, params) {
            Ok(rule) => pass.rule = rule,
            Err(Stop::Rule(objection)) if pass.observing => pass.would = Some(refused(objection)),
            Err(Stop::Rule(objection) | Stop::Always(objection)) => return Err(refused(objection)),
        }
        for limit in limits(layers, method, params) {
            if limit.until_ms.is_some_and(|until| until <= circumstances.now_ms) {
                continue;
            }
            // The paths of a sum start at the request's params.
            let fits = match limit.taken_by(params) {
                Ok(amount) => {
                    pass.limits.push(Taking { limit, amount });
                    fits_at_all(limit, amount, method)
                }
                Err(why) => Err(no_amount(limit, method, &why)),
            };
            match fits.map_err(|refusal| Refusal { keep, ..refusal }) {
                Ok(()) => {}
                Err(refusal) if pass.observing => pass.would = pass.would.or(Some(refusal)),
                Err(refusal) => return Err(refusal),
            }
        }
        self.not_our_home(params).map_err(|refusal| Refusal { keep, ..refusal })?;
        Ok(pass)
    }

    /// Is there a rule about what a server asks of this client?
    pub fn judges_asks(&self, client: &str) -> bool {
        self.request_layers(client).iter().any(|layer| {
            layer.sampling.is_some() || layer.elicitation.is_some() || layer.others_denied.is_some()
        })
    }

    /// Does this client see the resource, template or prompt in its lists?
    pub fn is_listed(&self, listing: Listing, client: &str, name: &str) -> bool {
        let layers = self.request_layers(client);
        if layers.observing() {
            return true;
        }
        let hides = |layer: &Layer| match listing {
            Listing::Prompts => layer.prompts.as_ref().is_some_and(|rule| rule.hides(&name.to_owned())),
            Listing::Resources => layer.resources.as_ref().is_some_and(|rule| hides_uri(rule, name)),
            // Hidden is what it fills in, and what it is called.
            Listing::Templates => layer
                .resources
                .as_ref()
                .is_some_and(|rule| hides_uri(rule, name) || hides_uri(rule, uri::opening(name))),
        };
        !layers.iter().any(hides)
    }

    /// The entries by which [`is_listed`](Policy::is_listed) leaves things out for this client. Where they are the same,
    /// the lists are the same.
    pub fn unlisted(&self, listing: Listing, client: &str) -> Vec<&str> {
        let layers = self.request_layers(client);
        if layers.observing() {
            return Vec::new();
        }
        let mut hidden: Vec<&str> = match listing {
            Listing::Prompts => {
                let rules = layers.iter().filter_map(|layer| layer.prompts.as_ref());
                rules.flat_map(|rule| &rule.hide).map(|listed| listed.entry.text()).collect()
            }
            Listing::Resources | Listing::Templates => {
                let rules = layers.iter().filter_map(|layer| layer.resources.as_ref());
                rules.flat_map(|rule| &rule.hide).map(|listed| listed.entry.text.as_str()).collect()
            }
        };
        hidden.sort_unstable();
        hidden.dedup();
        hidden
    }
}

fn hides_uri(rule: &ListRule<Uris>, text: &str) -> bool {
    // What cannot be judged may be something hidden.
    !rule.hide.is_empty() && Uri::read(text).map_or(true, |uri| rule.hides(&uri))
}

fn ruled<'p>(
    layers: Layers<'p>,
    method: &str,
    folded: &str,
    class: Class,
    params: Option<Raw<'_>>,
) -> Verdict<'p> {
    match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            resources(layers, || Ok(vec![request::uri(params)?]))
        }
        "subscriptions/listen" => resources(layers, || request::listened_uris(params)),
        "prompts/get" => prompts(layers, || request::prompt(params)),
        "completion/complete" => completion(layers, params),
        "sampling/createMessage" => of_the_server(
            layers,
            |layer| layer.sampling.as_ref(),
            || request::offers_tools(params),
            ("tools", "the server may not offer tools to the model"),
        ),
        "elicitation/create" => of_the_server(
            layers,
            |layer| layer.elicitation.as_ref(),
            || request::opens_url(params),
            ("urls", "the server may not send a person to an address"),
        ),
        _ => others(layers, method, folded, class),
    }
}

/// Methods of no rule of their own.
fn others<'p>(layers: Layers<'p>, method: &str, folded: &str, class: Class) -> Verdict<'p> {
    if let Some(family) = Family::of(folded)
        && let Some(pointer) = layers.iter().find_map(|layer| layer.pointer(family))
    {
        if folded != method {
            let reason = format!("{method:?} is not how this method is spelled");
            let rule = format!("(look-alike of {folded})");
            return Err(Stop::Always(Objection { kind: RefusalKind::Denied, rule, reason }));
        }
        let reason = format!("the method {method:?} is not known, so the rules cannot judge it");
        return Err(Objection { kind: RefusalKind::Denied, rule: pointer.to_owned(), reason }.into());
    }
    if class == Class::Unknown
        && let Some(pointer) = layers.iter().find_map(|layer| layer.others_denied.as_ref())
    {
        let reason = format!("the method {method:?} is not one that this policy lets through");
        return Err(Objection { kind: RefusalKind::Denied, rule: pointer.clone(), reason }.into());
    }
    Ok(METHODS)
}

fn resources<'p>(
    layers: Layers<'p>,
    uris: impl FnOnce() -> Result<Vec<String>, request::Ambiguous>,
) -> Verdict<'p> {
    let mut first = None;
    if layers.iter().all(|layer| layer.resources.is_none()) {
        return Ok(METHODS);
    }
    let uris = uris().map_err(ambiguous)?;
    if uris.is_empty() {
        return Ok(METHODS);
    }
    let rules = || layers.iter().filter_map(|layer| layer.resources.as_ref());
    let looked_at = rules().any(|rule| !rule.refuses_nothing());
    for text in &uris {
        // Read once, whoever has a say in it.
        let uri = if looked_at { Some(Uri::read(text)) } else { None };
        for rule in rules() {
            let by = match &uri {
                Some(uri) if !rule.refuses_nothing() => resource(rule, text, uri)?,
                _ => &rule.rest_pointer,
            };
            first.get_or_insert(by);
        }
    }
    Ok(first.unwrap_or(METHODS))
}

fn resource<'p>(
    rule: &'p ListRule<Uris>,
    text: &str,
    uri: &Result<Uri, &'static str>,
) -> Result<&'p str, Objection> {
    match uri {
        Ok(uri) => rule.judge(uri, &format!("{text:?}"), |schemes| uri.has_scheme_of(schemes)),
        // Its own words: a policy's reason speaks of what is denied, not of what cannot be read.
        Err(why) => Err(Objection {
            kind: RefusalKind::Denied,
            rule: rule.pointer.clone(),
            reason: format!("the URI {why}, so it cannot be judged"),
        }),
    }
}

fn prompts<'p>(
    layers: Layers<'p>,
    prompt: impl FnOnce() -> Result<String, request::Ambiguous>,
) -> Verdict<'p> {
    let mut first = None;
    if layers.iter().all(|layer| layer.prompts.is_none()) {
        return Ok(METHODS);
    }
    let prompt = prompt().map_err(ambiguous)?;
    if let Some(flaw) = name::unusable(&prompt) {
        let (rule, reason) = ("(unusable name)".to_owned(), flaw.replace("tool", "prompt"));
        return Err(Stop::Always(Objection { kind: RefusalKind::Denied, rule, reason }));
    }
    for rule in layers.iter().filter_map(|layer| layer.prompts.as_ref()) {
        let by = rule.judge(&prompt, &format!("the prompt {prompt:?}"), |_| true)?;
        first.get_or_insert(by);
    }
    Ok(first.unwrap_or(METHODS))
}

/// The rule of completion itself, and those of what is completed; these count nothing, for nothing is read.
fn completion<'p>(layers: Layers<'p>, params: Option<Raw<'_>>) -> Verdict<'p> {
    if layers.iter().all(|layer| layer.pointer(Family::Completion).is_none()) {
        return Ok(METHODS);
    }
    let reference = request::reference(params).map_err(ambiguous)?;
    let mut by = match &reference {
        Reference::Prompt(name) => prompts(layers, || Ok(name.clone()))?,
        Reference::Resource { uri, values } => {
            // The template's own beginning, and what it becomes with what is filled in.
            resources(layers, || {
                let unfilled = "is about a template that servers fill differently";
                let filled = uri::filled(uri, values).ok_or_else(|| unfilled.to_owned())?;
                let mut texts = vec![uri::opening(uri).to_owned(), filled];
                texts.dedup();
                Ok(texts)
            })?
        }
    };
    for rule in layers.iter().filter_map(|layer| layer.completion.as_ref()) {
        not_refused(rule, "completion")?;
        by = &rule.pointer;
    }
    Ok(by)
}

/// What the server asks of the client. `more` is a permission of its own, with the words for its lack.
fn of_the_server<'p>(
    layers: Layers<'p>,
    rule_of: impl Fn(&'p Layer) -> Option<&'p MethodRule>,
    wants_more: impl FnOnce() -> Result<bool, request::Ambiguous>,
    (more, lack): (&str, &str),
) -> Verdict<'p> {
    let mut first = None;
    if layers.iter().all(|layer| rule_of(layer).is_none()) {
        return Ok(METHODS);
    }
    let wants_more = wants_more().map_err(ambiguous)?;
    for rule in layers.iter().filter_map(rule_of) {
        not_refused(rule, "a request of the server")?;
        if wants_more && !rule.permits_more {
            let reason = rule.reason.clone().unwrap_or_else(|| lack.to_owned());
            let rule = format!("{}/{more}", rule.pointer);
            return Err(Objection { kind: RefusalKind::Denied, rule, reason }.into());
        }
        first.get_or_insert(rule.pointer.as_str());
    }
    Ok(first.unwrap_or(METHODS))
}

fn not_refused(rule: &MethodRule, what: &str) -> Result<(), Objection> {
    let Some(kind) = rule.refused else { return Ok(()) };
    let reason = rule.reason.clone().unwrap_or_else(|| match kind {
        RefusalKind::Ask => {
            format!("{what} needs a person's approval, which this version of Callgate cannot ask for yet")
        }
        _ => format!("{what} is denied"),
    });
    Err(Objection { kind, rule: rule.action(), reason })
}

#[expect(clippy::needless_pass_by_value, reason = "it is the function of a map_err")]
fn ambiguous(why: request::Ambiguous) -> Stop {
    let (rule, reason) = ("(ambiguous request)".to_owned(), format!("the request {why}"));
    Stop::Always(Objection { kind: RefusalKind::Denied, rule, reason })
}

/// The caps that count a request of this method, whether it is refused otherwise or not.
fn limits<'p>(layers: Layers<'p>, method: &str, params: Option<Raw<'_>>) -> Vec<&'p Limit> {
    let of = |limits: fn(&Layer) -> Option<&Vec<Limit>>| layers.iter().filter_map(limits).flatten().collect();
    match method {
        // Giving a subscription up discloses nothing, so it counts for no cap.
        "resources/read" | "resources/subscribe" => {
            of(|layer| layer.resources.as_ref().map(|rule| &rule.limits))
        }
        "subscriptions/listen" if request::listened_uris(params).is_ok_and(|uris| !uris.is_empty()) => {
            of(|layer| layer.resources.as_ref().map(|rule| &rule.limits))
        }
        "prompts/get" => of(|layer| layer.prompts.as_ref().map(|rule| &rule.limits)),
        "completion/complete" => of(|layer| layer.completion.as_ref().map(|rule| &rule.limits)),
        "sampling/createMessage" => of(|layer| layer.sampling.as_ref().map(|rule| &rule.limits)),
        "elicitation/create" => of(|layer| layer.elicitation.as_ref().map(|rule| &rule.limits)),
        _ => Vec::new(),
    }
}
